package provider

import (
	"fmt"
	"net/url"
	"strings"
)

// Named returns the profile of the name.
func Named(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("the provider %q is not known; it is one of %s", name, strings.Join(Names(), ", "))
}

// Names are the names of all profiles.
func Names() []string {
	var names []string
	for _, p := range Profiles() {
		names = append(names, p.Name)
	}
	return names
}

// At returns the profile of the server at the address: the provider that the
// host belongs to, or the generic one. An address that is none gets the
// generic one too.
func At(baseURL string) Profile {
	u, err := url.Parse(baseURL)
	if err != nil {
		return Generic()
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	for _, p := range Profiles() {
		for _, pattern := range p.Hosts {
			if matches(pattern, host, u.Port()) {
				return p
			}
		}
	}
	return Generic()
}

// matches reports whether a host and port belong to a pattern of a profile.
// Whole labels are compared: a host of somebody else may well contain the name
// of a provider.
func matches(pattern, host, port string) bool {
	switch pattern[0] {
	case ':':
		return port == pattern[1:]
	case '.', '-': // Google's regions stand before a dash
		return len(host) > len(pattern) && strings.HasSuffix(host, pattern)
	default:
		return host == pattern
	}
}
