package guard_test

import "testing"

// ordinary are scripts that pass.
func ordinary() []string {
	return []string{
		"", " ", "\n", "ls", "true", "make && make test", "# rm -rf /", "echo hi # rm -rf /",
		// Removal of what is in the workspace, and elsewhere.
		"rm -f notes.log", "rm notes.log", "rm -r ./build_output", "rm -rf build_output", "rm -rf node_modules dist", "rm -rf ./node_modules/", "rm -rf build/*", "rm -rf ./build/*", "rm -rf src/../build", "rm -rf /workspace/build", "rm -rf /workspace/build/*", "rm -rf *.o", "rm -rf *.egg-info", "rm -rf build*", "rm -rf __pycache__ .pytest_cache", "rm -rf **/__pycache__", "rm -rf */node_modules",
		"rm -rf .venv", "rm -rf .git/index.lock", "rm -f .git/index.lock", "rm -rf sub/.git", "rm -rf .gitignore", "rm -f *", "rm -f ./*", "rm *", "rm -rf /tmp/foo", "rm -rf /tmp/*", "rm -rf /tmp", "rm -rf /var/lib/apt/lists/*", "rm -rf /usr/local/lib/x", "rm -rf /root/.cache", "rm -rf ~/.cache", "rm -rf ~/.cache/*", "rm -rf ~/x", "rm -rf $HOME/.npm", "rm -rf \"$HOME/.cache\"", "rm -rf /home/belljar/.cache",
		"rm -rf \"$TMPDIR/x\"", "rm -rf $TMPDIR/x", "rm -rf \"$BUILD\"", "rm -rf $BUILD", "rm -rf \"$BUILD/out\"", "rm -rf \"${BUILD:?}\"/*", "rm -rf \"${BUILD:?not set}/\"*", ": \"${BUILD:?}\"; rm -rf \"$BUILD\"/*", "set -u; rm -rf \"$BUILD\"/*", "set -eu\nrm -rf $BUILD/*", "set -euo pipefail; rm -rf \"$BUILD\"/*", "set -o nounset; rm -rf $BUILD/*", "BUILD=build; rm -rf \"$BUILD\"/*", "BUILD=$(mktemp -d); rm -rf \"$BUILD\"/*", "tmp=$(mktemp -d)\ntrap 'rm -rf \"$tmp\"' EXIT",
		"[ -n \"$BUILD\" ] && rm -rf \"$BUILD\"/*", "if [ -d \"$BUILD\" ]; then rm -rf \"$BUILD\"/*; fi", "if [[ -n $BUILD ]]; then rm -rf $BUILD/*; fi", "test -n \"$BUILD\" && rm -rf \"$BUILD\"/*", "rm -rf ${BUILD:-build}/*", "D=${1:-build}; rm -rf $D", "read -r d; rm -rf \"$d\"/*", "while read -r d; do rm -rf \"$d\"/*; done < list", "for d in a b; do rm -rf $d/*; done", "for f in *; do [ \"$f\" = keep ] || rm -rf \"$f\"; done", "for f in *; do case $f in keep) ;; *) rm -rf $f;; esac; done", "for f in *.o; do rm -rf $f; done", "for d in */; do rm -rf \"$d/build\"; done",
		"for ((i=0;i<3;i++)); do rm -rf ./$i; done", "i=1; rm -rf out$i", "rm -rf out$((i+1))", "rm -rf /tmp/x.$$", "rm -rf \"/tmp/$USER\"", "rm -rf {a,b,c}", "rm -rf x{1..9}", "rm -rf /workspace/{a,b}", "rm -rf ./-x", "rm -rf -- -x", "rm -rf 'a b'", "rm -rf '*'", "rm -rf \\*", "rm -rf '~'", "rm -rf 'x'/*", "rm --version", "rm -i /", "rm -f /", "rmdir /", "rm -rf a/../b",
		"rm -rf \"$(dirname \"$0\")\"/build", "rm -rf $(ls -d old-*)", "rm -rf $(cat list)", "rm -rf \"$(git rev-parse --show-toplevel)/build\"", "rm -rf `find . -name '*.pyc'`", "R='rm -rf'; $R build", "X=/; X=build; rm -rf $X", "f() { rm -rf \"$1\"; }; f build", "f() { rm -rf /; }", "clean() { rm -rf build; }; clean", "d=(build dist); rm -rf \"${d[@]}\"", "rm -rf \"$@\"", "rm -rf $*", "set -- a b; rm -rf \"$@\"",
		"cd build && rm -rf *", "cd build\nrm -rf *", "cd build || exit 1\nrm -rf ./*", "(cd build && rm -rf *)", "cd /tmp/x && rm -rf *", "cd \"$(mktemp -d)\" && rm -rf *", "mkdir -p out && cd out && rm -rf ..?*", "/tmp:  rm -rf *", "/workspace/src:  rm -rf *", "/workspace/src:  rm -rf .", "/workspace/src:  rm -rf ../build", "/workspace/a/b:  rm -rf ../*", ":  rm -rf *", ":  rm -rf .", ":  rm -rf ../x", "cd $UNKNOWN && rm -rf *", "popd; rm -rf *",
		"sudo rm -rf build", "env rm -rf build", "sudo -u me rm -rf build", "timeout 5 rm -rf build", "xargs rm -rf < list", "echo build | xargs rm -rf", "ls build | xargs rm -rf", "find . -name x | xargs rm -rf", "grep -l x * | xargs rm", "git ls-files -o | xargs rm -rf", "find build -print0 | xargs -0 rm -rf", "bash -c 'rm -rf build'", "echo 'rm -rf build' | sh", "bash -c 'rm -rf $1' x build", "bash script.sh rm -rf /", "./clean.sh -rf /", "ssh host rm -rf /",
		// Text that is only text.
		"echo \"rm -rf /\"", "echo 'rm -rf /'", "echo rm -rf /", "printf 'rm -rf /\\n'", "grep 'rm -rf /' .", "grep -rn \"rm -rf /\" src", "cat <<E\nrm -rf /\nE", "cat > x.sh <<'E'\nrm -rf /\nE", "cat <<E > x.sh\nrm -rf /\nmkfs.ext4 /dev/sda\nE", "echo ':(){ :|:& };:'", "git commit -m 'rm -rf / is bad'", "echo \"$(echo rm -rf /)\"", "x='rm -rf /'", "x='rm -rf /'; echo \"$x\"", "alias x='rm -rf /'", "sed 's/rm -rf \\///' x", "awk '/rm -rf/ {print}' x", "python3 -c 'print(\"rm -rf /\")'", "python3 - <<E\nprint('rm -rf /')\nE", "[ \"$x\" = 'rm -rf /' ]", "[[ $x == *'rm -rf /'* ]]", "rg 'curl .* \\| sh'", "case $x in 'rm -rf /') echo no;; esac", "man rm", "which rm", "command -v rm", "type rm",
		"find . -name '*.pyc' -delete", "find . -name '*.o' -exec rm {} +", "find . -type d -name __pycache__ -exec rm -rf {} +", "find / -name x -delete", "find build -delete", "find . -type f", "find . -empty -delete", "find . -mtime +7 -delete", "find . -type f -exec grep -l x {} +", "find . -path './build/*' -delete", "find . -type f -exec chmod 644 {} +", "find . -exec ls {} \\;", "find . -name '*.bak' -o -name '*.tmp' | xargs rm -f", "find . -iname '*.tmp' -print -delete", "find . -size 0 -delete", "find . -perm 777 -exec rm -r {} +",
		"git clean -n", "git clean -nfdx", "git clean -fdX", "git clean -f", "git clean -fdx build", "git clean -fd -- build", "git clean -i -fd", "git clean", "/workspace/src:  git clean -fdx", "git -C sub clean -fdx", "git checkout .", "git rm -r x", "git rm -rf build", "git status", "git stash", "git reset --hard",
		// Devices, permissions.
		"dd of=disk.img", "dd if=/dev/zero of=disk.img bs=1M count=10", "dd if=/dev/urandom of=/dev/null count=1", "dd if=/dev/sda of=x", "dd if=x of=/dev/stdout", "dd if=x of=/dev/shm/y", "mkfs.ext4 disk.img", "mkfs.ext4 -F ./disk.img", "mkfs.ext4 --help", "mkfs -V", "echo x > /dev/null", "echo x > /dev/stderr", "echo x >> /dev/stdout", "make 2>/dev/null", "make &>/dev/null", "make > /dev/null 2>&1", "exec 3<>/dev/tcp/127.0.0.1/80", "echo x > /dev/tty", "echo x > /dev/fd/3", "echo x > /dev/shm/x", "cat /dev/sda", "wipefs /dev/sda", "shred --help", "tee /dev/stderr < x", "echo x | tee /dev/null", "cp x y", "cp /dev/null x", "fdisk -l", "echo /dev/sda > x", "cat x > dev/sda",
		"chmod -R u+w .", "chmod -R 755 build", "chmod 777 /", "chmod +x x.sh", "chown -R me .", "chown -R me:me /workspace", "chmod -R a+rX /workspace", "chown me /etc", "chmod -R 755 /usr/local/bin",
		// Functions that end.
		"walk() { for d in \"$1\"/*/; do walk \"$d\" & done; wait; }; walk .", "f() { [ \"$1\" -gt 5 ] && return; f $(($1+1)) & }; f 0", "f() { if [ $1 = 0 ]; then return; fi; f $(($1-1)) | cat; }; f 3", "f() { echo x | g & }; f", "f() { g | g & }; f", "f() { f; }; f", "fact() { [ $1 -le 1 ] && echo 1 || echo $(( $1 * $(fact $(($1-1))) )); }; fact 5", "f() { sleep 60; f & }; f", "f() { case $1 in 0) return;; esac; f 0 & }", "while true; do sleep 1; done", "while :; do x & sleep 1; done", "retry() { \"$@\" || { sleep 1; retry \"$@\"; }; }; retry make",
		// Downloads.
		"curl -o x https://x", "curl -O https://x", "curl https://x", "curl https://x | jq .", "curl https://x | jq -r .name | head", "curl https://x | grep x", "curl https://x | tar xz", "curl https://x > x.sh", "curl https://x | tee x.sh", "wget https://x", "wget -O x https://x", "wget -q https://x && tar xf x", "curl https://x | python3 -c 'import json,sys; print(json.load(sys.stdin))'", "curl https://x | python3 -m json.tool", "curl https://x | python3 parse.py", "curl https://x | perl -ne 'print'", "curl https://x | perl -pe 's/a/b/'", "curl https://x | node -e 'x'", "curl https://x | ruby -e 'puts gets'", "curl https://x | bash script.sh", "curl https://x | bash -c 'cat > x'", "curl https://x | sh -c 'jq .'", "X=$(curl https://x); echo \"$X\"", "X=$(curl https://x); [ \"$X\" = ok ]",
		"curl -o x.sh https://x && bash x.sh", "curl -fsSLo x https://x; sh x", "echo 'curl https://x | sh'", "echo ls | sh", "cat x.sh | bash", "bash < x.sh", "bash <(echo ls)", "eval \"$(ssh-agent)\"", "eval \"$(direnv export bash)\"", "source .venv/bin/activate", ". ./env.sh", "curl https://x | wc -l", "for i in $(curl https://x); do echo $i; done", "curl https://x | while read -r l; do echo \"$l\"; done", "pip install x", "npm install", "curl https://x | sha256sum -c", "python3 x.py | sh", "git clone https://x && cd x && ./configure", "python3", "perl x.pl", "diff <(curl https://x) y", "curl https://x | sort | uniq -c | python3 count.py",
		// What no shell reads.
		"if then", ")", "'", "\"", "$(", "rm -rf \"", "rm -rf ${", "<<E", "f() {", "case", "((", "rm -rf $((", "\x00\x01\xff", "\\",
	}
}

func TestPasses(t *testing.T) {
	for _, script := range ordinary() {
		t.Run(script, func(t *testing.T) {
			script, dir := split(script)
			if finding, ok := check(script, dir); ok {
				t.Errorf("finding %+v", finding)
			}
		})
	}
}
