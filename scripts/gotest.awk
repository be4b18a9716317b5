# Reads the events of `go test -json`.

function field(name,    s) {
	if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
	s = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
	gsub(/\\\\/, "\001", s); gsub(/\\n/, "\n", s); gsub(/\\t/, "\t", s); gsub(/\\r/, "", s); gsub(/\\"/, "\"", s)
	gsub(/\\u003c/, "<", s); gsub(/\\u003e/, ">", s); gsub(/\\u0026/, "\\&", s); gsub(/\\u001b/, "\033", s)
	gsub("\001", "\\", s)
	return s
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

action == "pass" && test != "" { passed++; delete said[id] }
action == "skip" && test != "" { skipped++; printf "%s", said[id]; delete said[id] }
action == "fail" && test != "" { failed++; broken[pkg] = 1; printf "%s", said[id]; delete said[id] }

# A package can fail by itself: it does not compile, or it panics outside a test.
action == "fail" && test == "" {
	if (!(pkg in broken)) failed++
	printf "FAIL\t%s\n", pkg
}

END {
	printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
	exit failed > 0
}
