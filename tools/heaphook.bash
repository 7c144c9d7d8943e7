# SPDX-License-Identifier: Apache-2.0
# bash completion of heaphook-run and heaphook-report.

_heaphook_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

# "--option=value" arrives as three words; so do its pieces here.
_heaphook_files() {
	compopt -o filenames
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

_heaphook_run() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local i

	[[ $cur == = ]] && cur=
	[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
	case $prev in
	-o | --output)
		_heaphook_files "$cur"
		return ;;
	--sample | -l | --limit | -x | --only | -i | --initial | \
	-a | --additional)
		return ;;
	--on-exhaust)
		_heaphook_words 'grow enomem abort' "$cur"
		return ;;
	--huge-pages)
		_heaphook_words 'try require off' "$cur"
		return ;;
	--print-env)
		_heaphook_words 'sh ros-xml ros-python systemd sbatch' "$cur"
		return ;;
	esac
	# From PROGRAM on it is its own completion's turn.
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-o | --output | --sample | -l | --limit | -x | --only | \
		-i | --initial | -a | --additional | --on-exhaust | --huge-pages)
			[[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
			((i++)) ;;
		--print-env)
			[[ ${COMP_WORDS[i + 1]} == = ]] && ((i += 2)) ;;
		-?*) ;;
		*)
			if declare -F _command_offset >/dev/null; then
				_command_offset "$i"
			else
				_heaphook_files "$cur"
			fi
			return ;;
		esac
	done
	if [[ $cur == -* ]]; then
		_heaphook_words '-t --track -p --tlsf -r --report -n --print-env
			-o --output -s --summary -k --stacks --sample -l --limit
			-x --only --mmap --latency
			-i --initial -a --additional --on-exhaust --lock-memory
			--huge-pages
			-h --help -V --version' "$cur"
	else
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
	fi
}
complete -F _heaphook_run heaphook-run

_heaphook_report() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}

	[[ $cur == = ]] && cur=
	[[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}
	case $prev in
	-f | --format)
		_heaphook_words 'text json csv massif heaptrack pprof folded
			speedscope callgrind dhat svg pdf png' "$cur"
		return ;;
	--sort)
		_heaphook_words 'peak live total calls temporary' "$cur"
		return ;;
	--debug-path)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
		return ;;
	--from | --to | --thread | --pid | --rank | --top | --callers | \
	--callees)
		return ;;
	esac
	if [[ $cur == -* && $prev != -o && $prev != --output &&
		$prev != --suppress && $prev != --diff ]]; then
		_heaphook_words '--from --to --thread --pid --rank --top --sort --once
			--leaks --suppress --callers --callees --diff --debug-path
			--bundle --dump -f --format
			-o --output -q --quiet -h --help -V --version' "$cur"
	else
		_heaphook_files "$cur"
	fi
}
complete -F _heaphook_report heaphook-report
