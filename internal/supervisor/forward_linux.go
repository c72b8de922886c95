package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxForwarded is how many connections are passed on at once; more wait. It is
// less than the other end takes, so that connecting to it never waits.
const maxForwarded = 200

// forward passes every connection to a port of loopback on to a socket, which
// leads to the host. It is PID 1 of a container of its own that shares nothing
// with the sandbox but the network: the sandbox has no other way out, and this
// one decides nothing. It ends as init does.
//
// Sockets are used as files: package net would make every spare start slower.
func forward(port, seconds int, socket string) int {
	listener, err := listenLoopback(port)
	if err == nil {
		// The other end must be within reach before a command relies on it.
		var probe *os.File
		if probe, err = connectUnix(socket); err == nil {
			err = probe.Close()
		}
	}
	if err != nil {
		fmt.Println(err)
		return 125
	}
	go accept(listener, socket)
	if _, err := os.Stdout.WriteString(Magic); err != nil {
		return 125
	}
	return initMain(seconds, nil)
}

func listenLoopback(port int) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("making a socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, fmt.Errorf("taking port %d: %w", port, err)
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return 0, fmt.Errorf("listening on port %d: %w", port, err)
	}
	return fd, nil
}

func connectUnix(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: path})
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("connecting to the proxy's socket: %w", err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// accept serves for as long as the process lives.
func accept(listener int, socket string) {
	places := make(chan struct{}, maxForwarded) // holds a place for each connection
	for {
		places <- struct{}{}
		fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
		if err != nil {
			<-places
			if !errors.Is(err, unix.EINTR) {
				time.Sleep(10 * time.Millisecond) // out of files or memory, for now
			}
			continue
		}
		client := os.NewFile(uintptr(fd), "client")
		go func() {
			defer func() { <-places }()
			defer client.Close()
			host, err := connectUnix(socket)
			if err != nil {
				return
			}
			defer host.Close()
			pass(client, host)
		}()
	}
}

// pass passes bytes both ways until both sides have ended. A failure on either
// side ends both.
func pass(client, host *os.File) {
	var both sync.WaitGroup
	oneWay := func(to, from *os.File) {
		_, err := io.Copy(to, from)
		if err != nil || closeWrite(to) != nil {
			client.Close()
			host.Close()
		}
	}
	both.Go(func() { oneWay(host, client) })
	both.Go(func() { oneWay(client, host) })
	both.Wait()
}

// closeWrite tells the other side of a socket that nothing more comes.
func closeWrite(socket *os.File) error {
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = unix.Shutdown(int(fd), unix.SHUT_WR) }); err != nil {
		return err
	}
	return failed
}

// forwardArgs reads the arguments of ForwardArgs.
func forwardArgs(args []string) (port, seconds int, socket string, ok bool) {
	if len(args) != 6 {
		return 0, 0, "", false
	}
	port, err1 := strconv.Atoi(args[3])
	seconds, err2 := strconv.Atoi(args[4])
	return port, seconds, args[5], err1 == nil && err2 == nil && port > 0 && seconds > 0
}
