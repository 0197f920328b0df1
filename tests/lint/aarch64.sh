#!/bin/sh
# What runs in the target compiles and links for aarch64, warnings as errors.
set -eu
cd "$(dirname "$0")/../.."
flags="-std=gnu11 -D_GNU_SOURCE -O2 -fPIC -Werror -Wall -Wextra -Wpedantic -Wshadow
	-Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef
	-Wimplicit-fallthrough"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
source=$PWD
export flags folder source
# Files of two rooms may have one name: an object is called by its path.
(
	find src/agent -name '*.c' ! -name '*_x86_64.c' \
		! -path '*/trace/python/dispatch*.c' ! -path '*/trace/python/eval_*.c'
	find src/agent -name '*_unsupported.c'
) | xargs -n 1 -P "$(nproc)" sh -c '
	aarch64-linux-gnu-gcc $flags "-I$source/src" -c "$1" -o "$folder/$(echo "$1" | tr / -).o"' sh
link()
{
	agent=$1
	shift
	aarch64-linux-gnu-gcc -shared -Wl,-z,defs -Wl,--version-script=src/agent/exports.map \
		-o "$folder/libfathom-agent-$agent.so" "$folder"/src-agent-mechanisms_"$agent".c.o \
		"$folder"/src-agent-core-*.o "$folder"/src-agent-interpreters-*.o \
		"$folder"/src-agent-control-*.o "$folder"/src-agent-exec-*.o "$@" -lpthread -ldl
}
link record "$folder"/src-agent-signals-*.o "$folder"/src-agent-sample-*.o
link trace "$folder"/src-agent-trace-*.o
echo "both agents link for aarch64"
