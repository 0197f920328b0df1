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
	find src/agent -name '*.c' ! -name '*_x86_64.c' ! -path '*/trace/python/frames*.c' \
		! -path '*/trace/python/stubs*.c'
	find src/agent -name '*_unsupported.c'
) | xargs -n 1 -P "$(nproc)" sh -c '
	aarch64-linux-gnu-gcc $flags "-I$source/src" -c "$1" -o "$folder/$(echo "$1" | tr / -).o"' sh
aarch64-linux-gnu-gcc -shared -Wl,-z,defs -Wl,--version-script=src/agent/exports.map \
	-o "$folder/libfathom-agent.so" "$folder"/*.o -lpthread -ldl
echo "the agent links for aarch64"
