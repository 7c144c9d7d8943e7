#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What the recorder costs, and what the TLSF heap: each load with and without
# in turn, ROUNDS times; the medians, and that of the ratios within a round,
# since a machine may be slower for a while.  Then how long single calls take.
# Quiet machines only; logs go to OUTPUT's folder.
set -eu
build=${HH_BUILD:-.}
rounds=${ROUNDS:-11}
folder=${OUTPUT:-/dev/shm}
loads=$build/tests/bench/loads
track=$build/lib/.libs/libheaphook-track.so
tlsf=$build/lib/.libs/libheaphook-tlsf.so
kept=$(mktemp -d "$folder/heaphook-bench.XXXXXX")
trap 'rm -rf "$kept"' EXIT

median() {
	sort -n "$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# ratio A B: of B to A
ratio() {
	paste "$1" "$2" | awk '{ print $2 / $1 }' >"$kept/ratios"
	median "$kept/ratios"
}

# recorded KIND LOAD...: once, with what is set; its log's bytes to KIND.bytes
recorded() {
	kind=$1
	shift
	HEAPHOOK_OUTPUT=$kept/log LD_PRELOAD=$track "$loads" "$@" \
	    >>"$kept/$kind"
	stat -c %s "$kept/log" >"$kept/$kind.bytes"
	rm "$kept/log"
}

printf '%-8s%-9s%10s  %30s  %30s  %18s\n' load threads 'none, ns' \
    'events, ns  ratio  bytes each' 'stacks, ns  ratio  bytes each' \
    'sampled, ns  ratio'
# LOAD THREADS PAIRS
while read -r load threads pairs; do
	rm -f "$kept/none" "$kept/events" "$kept/stacks" "$kept/sampled"
	for _ in $(seq "$rounds"); do
		"$loads" "$load" "$threads" "$pairs" >>"$kept/none"
		recorded events "$load" "$threads" "$pairs"
		(export HEAPHOOK_STACKS=32
		recorded stacks "$load" "$threads" "$pairs"
		export HEAPHOOK_SAMPLE=512K
		recorded sampled "$load" "$threads" "$pairs")
	done
	awk -v load="$load" -v threads="$threads" \
	    -v events="$((threads * (2 * pairs + 10000)))" \
	    -v a="$(median "$kept/none")" \
	    -v b="$(median "$kept/events")" \
	    -v br="$(ratio "$kept/none" "$kept/events")" \
	    -v c="$(median "$kept/stacks")" \
	    -v cr="$(ratio "$kept/none" "$kept/stacks")" \
	    -v d="$(median "$kept/sampled")" \
	    -v dr="$(ratio "$kept/none" "$kept/sampled")" \
	    -v m="$(cat "$kept/events.bytes")" \
	    -v n="$(cat "$kept/stacks.bytes")" 'BEGIN {
		printf "%-8s%-9d%10.1f  %10.1f%7.2f%13.1f  %10.1f%7.2f%13.1f" \
		    "  %11.1f%7.2f\n",
		    load, threads, a, b, br, m / events, c, cr, n / events,
		    d, dr }'
done <<-END
	tight 1 4000000
	tight 2 2000000
	rand 1 1000000
	rand 2 1000000
	rand 4 500000
END
rm -f "$kept/clock"
for _ in $(seq "$rounds"); do
	"$loads" clock 1 4000000 >>"$kept/clock"
done
printf 'Two looks at the clock, as a pair among threads takes: %.1f ns\n' \
    "$(median "$kept/clock")"

printf '\n%-8s%-9s%10s%12s%8s\n' load threads 'libc, ns' 'tlsf, ns' ratio
while read -r load threads pairs; do
	: >"$kept/libc"
	: >"$kept/tlsf"
	for _ in $(seq "$rounds"); do
		"$loads" "$load" "$threads" "$pairs" >>"$kept/libc"
		LD_PRELOAD=$tlsf \
		    "$loads" "$load" "$threads" "$pairs" >>"$kept/tlsf"
	done
	awk -v load="$load" -v threads="$threads" \
	    -v a="$(median "$kept/libc")" -v b="$(median "$kept/tlsf")" \
	    -v r="$(ratio "$kept/libc" "$kept/tlsf")" 'BEGIN {
		printf "%-8s%-9d%10.1f%12.1f%8.2f\n", load, threads, a, b, r }'
done <<-END
	tight 1 4000000
	tight 2 2000000
	rand 1 1000000
	rand 2 1000000
	rand 4 500000
	small 1 2000000
	pc 2 1000000
	regeo 1 5000
	restep 1 1000
	aligned 1 500000
	aligned 2 500000
END

# medians: of each column from the fourth, of lines whose first three are equal
medians() {
	awk '{
		key = $1 " " $2 " " $3
		if (!count[key]++)
			order[++keys] = key
		for (i = 4; i <= NF; i++)
			value[key, i, count[key]] = $i
		columns = NF
	}
	function middle(key, i,    n, j, k, v, sorted) {
		n = count[key]
		for (j = 1; j <= n; j++) {
			v = value[key, i, j]
			for (k = j; k > 1 && sorted[k - 1] > v; k--)
				sorted[k] = sorted[k - 1]
			sorted[k] = v
		}
		return sorted[int((n + 1) / 2)]
	}
	END {
		for (k = 1; k <= keys; k++) {
			line = order[k]
			for (i = 4; i <= columns; i++)
				line = line " " middle(order[k], i)
			print line
		}
	}'
}

# PEERS: other allocators' libraries.
printf '\n%s\n' \
    'threads, allocator, call: ns for half, 99, 99.9 and 99.99 of a hundred'
for threads in 1 2; do
	for _ in $(seq "$rounds"); do
		for library in libc "$tlsf" ${PEERS-}; do
			LD_PRELOAD=${library#libc} \
			    "$build/tests/bench/latency" $threads 1000000 |
			    sed "s|^|$threads ${library##*/} |"
		done
	done
done | medians
