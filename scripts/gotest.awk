# Reads the events of `go test -json`.

function field(name,    s) {
	if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
	s = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
	gsub(/\\\\/, "\001", s); gsub(/\\n/, "\n", s); gsub(/\\t/, "\t", s); gsub(/\\r/, "", s); gsub(/\\"/, "\"", s)
	gsub(/\\u003c/, "<", s); gsub(/\\u003e/, ">", s); gsub(/\\u0026/, "\\&", s); gsub(/\\u001b/, "\033", s)
	gsub("\001", "\\", s)
	return s
}

# place is a package in the form of PKG.
function place(pkg) {
	if (pkg == module) return "."
	if (index(pkg, module "/") == 1) return "." substr(pkg, length(module) + 1)
	return pkg
}

# reason is the last log line of a test.
function reason(text,    lines, i, why) {
	for (i = split(text, lines, "\n"); i > 0; i--)
		if (match(lines[i], /^ *[^ ]+\.go:[0-9]+: /)) return substr(lines[i], RLENGTH + 1) why
		else if (lines[i] ~ /[^ ]/ && lines[i] !~ /^ *--- SKIP/) why = " " lines[i] why
	return "no reason is given"
}

# names a failure, and how to run the first one alone.
function names(what, pkg, test) {
	list = list (list == "" ? "" : ", ") what
	if (alone != "") return
	sub(/\/.*/, "", test)
	alone = "make test PKG=" place(pkg) (test == "" ? "" : " ARGS='-run ^" test "$'")
}

# inner reports whether subtests of this test are among the given ones.
function inner(id, among,    other) {
	for (other in among) if (index(other, id "/") == 1) return 1
	return 0
}

# died names a package that ended by itself, and the tests that were running.
function died(pkg,    id, parts, how, running, first, test) {
	how = "died"
	for (id in began) {
		split(id, parts, "\t")
		if (parts[1] != pkg) continue
		if (said[id] ~ /panic: test timed out/) how = "timed out"
		if (began[id] == "running" && !inner(id, began)) {
			running = running (running == "" ? " in " : " ") parts[2]
			first = parts[2]
		}
	}
	for (id in began) {
		split(id, parts, "\t")
		if (parts[1] != pkg) continue
		printf "%s", said[id]
		delete began[id]; delete said[id]
	}
	names(place(pkg) " (" how running ")", pkg, first)
}

!/^\{/ { print; next }

{ action = field("Action"); pkg = field("Package"); test = field("Test"); id = pkg "\t" test }

action == "build-output" { printf "%s", field("Output") }

action == "output" && test == "" {
	line = field("Output")
	if (line !~ /^(PASS|FAIL|testing: warning|\?)/ && line !~ /no test files/) printf "%s", line
	fflush()
}

action == "output" && test != "" {
	line = field("Output")
	if (line !~ /^=== (RUN|PAUSE|CONT|NAME)/) said[id] = said[id] line
}

(action == "run" || action == "cont") && test != "" { began[id] = "running" }
action == "pause" && test != "" { began[id] = "waiting" }
(action == "pass" || action == "skip" || action == "fail") && test != "" { delete began[id] }

action == "pass" && test != "" { passed++; delete said[id] }
action == "skip" && test != "" { why[++skipped] = place(pkg) " " test ": " reason(said[id]); delete said[id] }
action == "fail" && test != "" {
	failed++; broken[pkg] = 1
	if (said[id] ~ /(^|\n)(panic|fatal error): /) panicked[pkg] = 1
	# A test with a failed subtest fails too.
	if (!inner(id, bad)) names(place(pkg) " " test, pkg, test)
	bad[id] = 1
	printf "%s", said[id]; delete said[id]
}

# A package can fail by itself: it does not build, panics outside a test, or is killed while tests run.
action == "fail" && test == "" {
	printf "FAIL\t%s\n", pkg
	left = 0
	for (id in began) if (index(id, pkg "\t") == 1) left = 1
	if (!(pkg in broken)) failed++
	if (/"FailedBuild":/) names(place(pkg) " (does not build)", pkg, "")
	else if (!(pkg in broken) || left && !(pkg in panicked)) died(pkg)
	else if (left) for (id in began) if (index(id, pkg "\t") == 1) delete began[id]
}

END {
	for (i = 1; i <= skipped; i++) print "skipped: " why[i]
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	if (failed > 0) print "FAILED: " list "; one of them alone: " alone
	exit failed > 0
}
