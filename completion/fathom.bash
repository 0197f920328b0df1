# Completion of fathom's command line for bash.

_fathom_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current")
}

_fathom_files()
{
	mapfile -t COMPREPLY < <(compgen -f -X '!*.fathom*' -- "$current"; compgen -d -- "$current")
	compopt -o filenames
}

_fathom_pids()
{
	mapfile -t COMPREPLY < <(cd /proc && compgen -G '[0-9]*' | grep "^$current")
}

# The value of an option, or failure when the option has none that is known.
_fathom_value()
{
	case "$1" in
	--clock)
		if [ "${COMP_WORDS[1]}" = trace ]; then
			_fathom_words "wall cpu"
		else
			_fathom_words "cpu user wall"
		fi
		;;
	--state) _fathom_words "waiting running runnable gil gvl lock io sleep wait stopped syscall" ;;
	--trigger) _fathom_words "auto sigtrap timer copied" ;;
	--pid | -p) _fathom_pids ;;
	--duration | -d) _fathom_words "1 10 60" ;;
	--color) _fathom_words "auto always never" ;;
	--by) _fathom_words "function line module package region state thread process program" ;;
	--sort) _fathom_words "self total calls" ;;
	--format | -f) _fathom_words "folded speedscope pprof flamegraph svg pstats callgrind" ;;
	--max-size) _fathom_words "100M 1G 10G" ;;
	--rate | -r) _fathom_words "100 1000 10000" ;;
	--seconds | -s) _fathom_words "0 3 10 60" ;;
	--output | -o | --core)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		compopt -o filenames
		;;
	--root)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		compopt -o filenames
		;;
	--callers | --callees | --lines | --process | --thread | --module | --package | --own | --min | --rows | -n | --interval | -i) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

# Where the command that record or trace runs begins, or nothing.
_fathom_command_index()
{
	local i=2

	while [ "$i" -lt "$COMP_CWORD" ]; do
		case "${COMP_WORDS[i]}" in
		--) echo $((i + 1)); return ;;
		--clock | --only | --rate | --overhead | --output | --trigger | --color | --pid | --duration | --runs | --against | -r | -o | -p | -d) i=$((i + 1)) ;;
		-*) ;;
		*) echo "$i"; return ;;
		esac
		i=$((i + 1))
	done
}

_fathom()
{
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local commands="record trace top dump report diff open export info module doctor help version" begins

	COMPREPLY=()
	# bash makes words of its own of "--by=line".
	if [ "$current" = = ]; then
		current=
	elif [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$COMP_CWORD" -eq 1 ]; then
		_fathom_words "$commands --help --version"
		return
	fi
	if [ "${COMP_WORDS[1]}" = record ] || [ "${COMP_WORDS[1]}" = trace ]; then
		begins=$(_fathom_command_index)
		if [ -n "$begins" ]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset "$begins"
			elif [ "$COMP_CWORD" -eq "$begins" ]; then
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			fi
			return
		fi
	fi
	_fathom_value "$previous" && return
	case "${COMP_WORDS[1]} $current" in
	"record -"*) _fathom_words "--no-debuginfod --clock --rate --overhead --output --max-size --pid --children --duration --runs --against --no-children --wait --quiet --native --paused --trigger --color --help" ;;
	"trace -"*) _fathom_words "--clock --overhead --only --blocks --no-builtins --output --max-size --no-children --wait --quiet --paused --color --help" ;;
	"top -"*) _fathom_words "--clock --rate --trigger --children --interval --rows --native --output --color --help" ;;
	"dump -"*) _fathom_words "--core --root --locals --native --full-names --json --no-pager --color --help" ;;
	"report -"*) _fathom_words "--no-debuginfod --by --tree --callers --callees --lines --native --blame --idle --min-max --raw --sort --state --process --thread --module --package --own --all --min --rows --json
			--full-names --color --no-pager --help" ;;
	"diff -"*) _fathom_words "--output --widths --by --fail-if --strict --margin --rows --native --json --color --help" ;;
	"open -"*) _fathom_words "--no-debuginfod --output --no-browser --process --thread --module --package --own --native --raw --help" ;;
	"export -"*) _fathom_words "--no-debuginfod --format --output --full-names --state --no-states --process --thread --module --package --own --native --raw --help" ;;
	"info -"*) _fathom_words "--accuracy --color --help" ;;
	"doctor -"*) _fathom_words "--rate --trigger --seconds --json --work --color --help" ;;
	"record "* | "trace "*) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
	"dump "* | "top "*) _fathom_pids ;;
	"help "*) _fathom_words "$commands" ;;
	"module "*) _fathom_words "python ruby c" ;;
	"report "* | "diff "* | "open "* | "export "* | "info "*) _fathom_files ;;
	esac
}

complete -F _fathom fathom
