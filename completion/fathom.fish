# Completion of fathom's command line for fish.

set -l commands record trace top dump report diff open export info module doctor help version

function __fathom_pids
    string match -r '^\d+$' (string replace /proc/ '' /proc/*)
end

complete -c fathom -f
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -l help -d "Print the commands"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -l version -d "Print the version"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a record -d "Run a command and record where its time goes"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a trace -d "Run a command and count and time every call it makes"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a top -d "Show what is hot now in a process or a command"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a dump -d "Show what every thread of a running process does now"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a report -d "Show where the time of a recording went"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a diff -d "Say what became slower, and whether it is more than chance"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a open -d "Show a recording as a page in the browser"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a export -d "Write a recording in the format of another tool"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a info -d "Show what was recorded, how, and how much of it can be trusted"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a module -d "Print the folder of the module by which programs mark regions"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a doctor -d "Say what this machine allows"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a help -d "Show the manual page of a command"
complete -c fathom -n "not __fish_seen_subcommand_from $commands" -a version -d "Print the version"

complete -c fathom -n '__fish_seen_subcommand_from record' -l clock -x -a 'cpu user wall' -d 'cpu (user and system time, the default), user, or wall: waits, too'
complete -c fathom -n '__fish_seen_subcommand_from record doctor' -s r -l rate -x -a '100 1000 10000' -d 'samples per second of CPU time, 1 to 50000; 1000 by default'
complete -c fathom -n '__fish_seen_subcommand_from record' -l overhead -x -a '1% 2% 5%' -d 'in place of a rate: what sampling may take, like 1%'
complete -c fathom -n '__fish_seen_subcommand_from record trace' -s o -l output -rF -d 'the recording; profile.fathom by default'
complete -c fathom -n '__fish_seen_subcommand_from record trace' -l max-size -x -a '100M 1G 10G' -d 'the recording ends at it, like 500M; the program runs on'
complete -c fathom -n '__fish_seen_subcommand_from record' -s p -l pid -x -a '(__fathom_pids)' -d 'record a process that runs already; may be given again'
complete -c fathom -n '__fish_seen_subcommand_from record' -l children -d 'with -p: the processes that descend from it, too'
complete -c fathom -n '__fish_seen_subcommand_from record' -s d -l duration -x -a '1 10 60' -d 'with -p: end after that; else at ^C or with the process'
complete -c fathom -n '__fish_seen_subcommand_from record' -l runs -x -a '5 10 20' -d 'run it N times at most, each into a recording of the folder -o names'
complete -c fathom -n '__fish_seen_subcommand_from record' -l against -x -d 'with --runs: in turn with this one, to be compared'
complete -c fathom -n '__fish_seen_subcommand_from record' -l no-children -d 'sample the command\'s own process only'
complete -c fathom -n '__fish_seen_subcommand_from record trace' -l wait -d 'follow descendants that outlive the command'
complete -c fathom -n '__fish_seen_subcommand_from record trace' -s q -l quiet -d 'no report at the end: stderr is the command\'s alone'
complete -c fathom -n '__fish_seen_subcommand_from record' -l native -d 'in the report at the end: an interpreter\'s own frames, too'
complete -c fathom -n '__fish_seen_subcommand_from record trace' -l paused -d 'begin when the program asks for it: fathom-module(1)'
complete -c fathom -n '__fish_seen_subcommand_from record top' -l trigger -x -a 'auto sigtrap timer copied' -d 'what takes samples: auto, sigtrap, timer or copied'
complete -c fathom -n '__fish_seen_subcommand_from record trace top dump report diff info doctor' -l color -x -a 'auto always never' -d 'auto (on a terminal), always or never'
complete -c fathom -n '__fish_seen_subcommand_from trace' -l clock -x -a 'wall cpu' -d 'wall (the default) or cpu: each thread\'s own CPU time'
complete -c fathom -n '__fish_seen_subcommand_from trace' -l overhead -x -a '5% 10% 20%' -d 'pauses beyond that share of the CPU time, like 20%, and says so'
complete -c fathom -n '__fish_seen_subcommand_from trace' -l no-builtins -d 'calls of the program\'s own functions only, not of C\'s'
complete -c fathom -n '__fish_seen_subcommand_from trace' -l blocks -d 'Ruby\'s blocks as well as its methods'
complete -c fathom -n '__fish_seen_subcommand_from trace' -l only -x -d 'only functions whose name or file this matches; may be repeated'
complete -c fathom -n '__fish_seen_subcommand_from trace' -l no-children -d 'trace the command\'s own process only'
complete -c fathom -n '__fish_seen_subcommand_from top' -l clock -x -a 'cpu wall' -d 'what is measured: cpu, or wall: waits, too, by state'
complete -c fathom -n '__fish_seen_subcommand_from top' -s r -l rate -x -a '100 1000 10000' -d 'samples per second of CPU time; 1000 by default, of wall time 100'
complete -c fathom -n '__fish_seen_subcommand_from top' -l children -d 'of a process: those that descend from it, too'
complete -c fathom -n '__fish_seen_subcommand_from top' -s i -l interval -x -a '1 2 5' -d 'how often it is read anew; 1 by default'
complete -c fathom -n '__fish_seen_subcommand_from top' -s n -l rows -x -d 'without a terminal: rows each time; 10 by default'
complete -c fathom -n '__fish_seen_subcommand_from top dump' -l native -d 'an interpreter\'s own frames, too'
complete -c fathom -n '__fish_seen_subcommand_from top' -s o -l output -rF -d 'keep the recording, for \'fathom report FILE\''
complete -c fathom -n '__fish_seen_subcommand_from dump' -l json -d 'write JSON, with all frames (docs/dump.md)'
complete -c fathom -n '__fish_seen_subcommand_from dump' -l locals -d 'the local variables of Python\'s functions'
complete -c fathom -n '__fish_seen_subcommand_from dump' -l full-names -d 'names and files in full, however wide'
complete -c fathom -n '__fish_seen_subcommand_from dump' -l no-pager -d 'write straight to the terminal'
complete -c fathom -n '__fish_seen_subcommand_from dump' -l core -rF -d 'of a core file; PROGRAM: in place of the one at its path'
complete -c fathom -n '__fish_seen_subcommand_from dump' -l root -rF -d 'where the files are that a core\'s program had mapped'
complete -c fathom -n '__fish_seen_subcommand_from report' -l by -x -a 'function line module package region state thread process program' -d 'rows: function, line, module, package, region, state, thread, process or program'
complete -c fathom -n '__fish_seen_subcommand_from report' -l tree -d 'the call tree, from the outermost function inwards'
complete -c fathom -n '__fish_seen_subcommand_from report' -l callers -x -d 'what calls FUNCTION, and how much of its time is theirs'
complete -c fathom -n '__fish_seen_subcommand_from report' -l callees -x -d 'what FUNCTION calls, and how much of its time goes there'
complete -c fathom -n '__fish_seen_subcommand_from report' -l lines -x -d 'the source of FUNCTION, with the time of each line'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l native -d 'an interpreter\'s own frames, too, where its language\'s stand'
complete -c fathom -n '__fish_seen_subcommand_from report' -l blame -d 'what made threads wait, on the wall clock'
complete -c fathom -n '__fish_seen_subcommand_from report' -l min-max -d 'the shortest and the longest of the calls of a trace'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l raw -d 'times of traced calls as they were measured'
complete -c fathom -n '__fish_seen_subcommand_from report' -l sort -x -a 'self total calls' -d 'by self (the default) or total time, or by calls'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l process -x -d 'only this process: its pid or its name'
complete -c fathom -n '__fish_seen_subcommand_from report export' -l state -x -a 'waiting running runnable gil gvl lock io sleep wait stopped syscall' -d 'only time in these states, like io,lock; waiting: all but running'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l thread -x -d 'only this thread: its id or its name'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l module -x -d 'only time in this program or library'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l package -x -a own -d 'only time in this package; own: in your own code'
complete -c fathom -n '__fish_seen_subcommand_from report open export' -l own -x -d 'what is your own code: files and modules with PART in their path'
complete -c fathom -n '__fish_seen_subcommand_from report' -l idle -d 'by thread: each of those that only waited, at one place, too'
complete -c fathom -n '__fish_seen_subcommand_from report' -l all -d 'hot paths of all code, not of your own'
complete -c fathom -n '__fish_seen_subcommand_from report' -l min -x -d 'leave out rows below this share'
complete -c fathom -n '__fish_seen_subcommand_from report' -s n -l rows -x -d 'at most N rows; 0: all of them'
complete -c fathom -n '__fish_seen_subcommand_from export' -l no-states -d 'folded, speedscope, svg: stacks of the wall clock without the state as last frame'
complete -c fathom -n '__fish_seen_subcommand_from export' -l full-names -d 'folded, svg: C++ and Rust names with all that is in their brackets'
complete -c fathom -n '__fish_seen_subcommand_from record report open export' -l no-debuginfod -d 'ask no server for debug files'
complete -c fathom -n '__fish_seen_subcommand_from report' -l full-names -d 'names as they are, however wide the rows get'
complete -c fathom -n '__fish_seen_subcommand_from report' -l json -d 'for scripts: see docs/report-json.md'
complete -c fathom -n '__fish_seen_subcommand_from report' -l no-pager -d 'do not show it page by page'
complete -c fathom -n '__fish_seen_subcommand_from info' -l accuracy -d 'confidence intervals of shares, and how long to record for ±1 point'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l by -x -a 'function line module package' -d 'what the rows are'
complete -c fathom -n '__fish_seen_subcommand_from diff' -s o -l output -rF -d 'a flame graph of what changed, too: x.html, x.svg'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l widths -x -a 'before after' -d 'of an image: the time before or after'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l fail-if -x -d 'exit with 1 if a change exceeds it: total>+5%'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l strict -d 'exit with 1 if that cannot be decided, too'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l margin -x -d 'changes within it count as unchanged'
complete -c fathom -n '__fish_seen_subcommand_from diff' -s n -l rows -x -d 'show so many rows'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l native -d 'an interpreter\'s own frames, too'
complete -c fathom -n '__fish_seen_subcommand_from diff' -l json -d 'one JSON object for scripts'
complete -c fathom -n '__fish_seen_subcommand_from open' -s o -l output -rF -d 'the page; beside the recording by default, as FILE.html'
complete -c fathom -n '__fish_seen_subcommand_from open' -l no-browser -d 'write the page and say where it is'
complete -c fathom -n '__fish_seen_subcommand_from export' -s f -l format -x -a 'folded speedscope pprof flamegraph svg pstats callgrind' -d 'folded, speedscope, pprof, flamegraph, svg, pstats or callgrind'
complete -c fathom -n '__fish_seen_subcommand_from export' -s o -l output -rF -d 'write to this file, not to standard output'
complete -c fathom -n '__fish_seen_subcommand_from doctor' -l trigger -x -a 'auto sigtrap timer copied' -d 'what takes samples: auto, sigtrap, timer or copied'
complete -c fathom -n '__fish_seen_subcommand_from doctor' -s s -l seconds -x -a '0 3 10 60' -d 'of known work; 3 by default, 0: none is run'
complete -c fathom -n '__fish_seen_subcommand_from doctor' -l json -d 'one JSON object for scripts'
complete -c fathom -n '__fish_seen_subcommand_from doctor' -l work -x -d 'run the known work and nothing else'

# A command to run, a process, a recording, a language, a command of fathom's.
complete -c fathom -n '__fish_seen_subcommand_from record trace' -a '(__fish_complete_subcommand --fcs-skip=2)'
complete -c fathom -n '__fish_seen_subcommand_from dump top' -a '(__fathom_pids)'
complete -c fathom -n '__fish_seen_subcommand_from report diff open export info' -a '(__fish_complete_suffix .fathom)'
complete -c fathom -n '__fish_seen_subcommand_from module' -a 'python ruby c'
complete -c fathom -n "__fish_seen_subcommand_from help" -a "$commands"
