# SPDX-License-Identifier: Apache-2.0
# The words of the .test files.  Each starts with
#
#	. "${0%/*}/lib.sh"
#
# and finds itself in a fresh directory, with nothing of heaphook in its
# environment, and
#
#	$RUN $REPORT	the tools, built or (HH_INSTALLED) installed
#	$TRACK $TLSF	libheaphook-track.so, libheaphook-tlsf.so
#	$PROG		where the programs of tests/prog are
#	$HH_SRC		the source tree
#	$HH_CC		the C compiler; $HH_CXX, $HH_FC may be empty

HH_SRC=${HH_SRC:-$(cd "${0%/*}/.." && pwd)}
HH_BUILD=${HH_BUILD:-$(pwd)}
HH_CC=${HH_CC:-cc}
PROG=$HH_BUILD/tests/prog
if [ "$HH_INSTALLED" ]; then
	RUN=$HH_BINDIR/heaphook-run
	REPORT=$HH_BINDIR/heaphook-report
	TRACK=$HH_LIBDIR/libheaphook-track.so
	TLSF=$HH_LIBDIR/libheaphook-tlsf.so
	INCLUDE=$HH_INCLUDEDIR
else
	RUN=$HH_BUILD/tools/heaphook-run
	REPORT=$HH_BUILD/tools/heaphook-report
	TRACK=$HH_BUILD/lib/.libs/libheaphook-track.so
	TLSF=$HH_BUILD/lib/.libs/libheaphook-tlsf.so
	INCLUDE=$HH_SRC/lib
fi

for hh_name in $(env | sed -n 's/^\(HEAPHOOK_[A-Z_]*\)=.*/\1/p'); do
	unset "$hh_name"
done
unset MAKEFLAGS MFLAGS MAKELEVEL
unset LD_PRELOAD TMOUT INITIAL_MEMPOOL_SIZE ADDITIONAL_MEMPOOL_SIZE
LC_ALL=C
# For tools built with --enable-sanitize, below a preload.
ASAN_OPTIONS=verify_asan_link_order=0
export LC_ALL ASAN_OPTIONS

hh_done=0
hh_failed=0
hh_planned=
hh_work=$(mktemp -d "${TMPDIR:-/tmp}/heaphook-test.XXXXXX") || exit 99
cd "$hh_work" || exit 99

# A test that stops half way has failed: the plan comes last.
hh_end() {
	hh_status=$?
	cd /
	if [ "$HH_KEEP" ]; then
		echo "# kept: $hh_work"
	else
		chmod -R u+rwx "$hh_work" 2>/dev/null
		rm -rf "$hh_work"
	fi
	[ "$hh_planned" ] || echo "Bail out! stopped early"
	[ $hh_status -ne 0 ] || [ $hh_failed -eq 0 ] || hh_status=1
	exit $hh_status
}
trap hh_end EXIT
trap 'exit 99' HUP INT TERM

note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass() {
	hh_done=$((hh_done + 1))
	echo "ok $hh_done - $1"
}

fail() {
	hh_done=$((hh_done + 1))
	hh_failed=$((hh_failed + 1))
	echo "not ok $hh_done - $1"
}

# skip NAME REASON: this claim cannot be tried here.
skip() {
	hh_done=$((hh_done + 1))
	echo "ok $hh_done - $1 # SKIP $2"
}

# skip_all REASON: none of this file can.
skip_all() {
	hh_planned=0
	echo "1..0 # SKIP $*"
	exit 0
}

# The last word of every file.
finish() {
	hh_planned=$hh_done
	echo "1..$hh_done"
	exit 0
}

# ok NAME COMMAND...: it succeeds; what it says is shown when it does not.
ok() {
	hh_name=$1
	shift
	if hh_said=$("$@" 2>&1); then
		pass "$hh_name"
	else
		fail "$hh_name"
		note "$hh_said"
	fi
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		note "got:    $2"
		note "wanted: $3"
	fi
}

# like NAME GOT PATTERN: a shell pattern.
like() {
	# shellcheck disable=SC2254 # a pattern is meant
	case $2 in
	$3)
		pass "$1" ;;
	*)
		fail "$1"
		note "got:    $2"
		note "wanted: $3" ;;
	esac
}

# run COMMAND...: its status in $status, its output in the files out, err.
run() {
	status=0
	"$@" >out 2>err || status=$?
}

# have COMMAND: it is installed.
have() {
	command -v "$1" >/dev/null 2>&1
}

# json FILE FILTER: what jq makes of it, strings without quotes.
json() {
	jq -r "$2" "$1"
}

# report FILTER LOG...: the same of heaphook-report's json.
report() {
	hh_filter=$1
	shift
	"$REPORT" -f json "$@" | jq -r "$hh_filter"
}
