#include "load/made_code.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "base/notes.h"
#include "base/table.h"
#include "record/reader.h"

/* Fewer addresses are those of a trampoline or two: callbacks by libffi, closures by gcc. */
#define LEAST_ADDRESSES 8

/* By the name of the program's file. */
static const struct {
	const char *pattern;
	const char *advice;
} runtimes[] = {
	{ "node*", "node --perf-basic-prof" },
	{ "electron*", "--js-flags=--perf-basic-prof" },
	{ "chrom*", "--js-flags=--perf-basic-prof --no-sandbox" },
	{ "deno*", "deno --v8-flags=--perf-basic-prof" },
	{ "java*",
	  "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit, from JDK 17 on, and "
	  "-XX:+PreserveFramePointer for the callers of compiled code" },
	{ "dotnet*", "DOTNET_PerfMapEnabled=1 in the environment" },
	{ "beam*", "erl +JPperf true" },
	{ "php*", "php -d opcache.jit_debug=16" },
	{ "ruby*", "ruby --yjit-perf, from 3.3 on; with --rjit there is no such option" },
	{ "python*",
	  "python -X perf, from 3.12 on; numba and the like have options of their own" },
	{ "julia*", "ENABLE_JITPROFILING=1 in the environment" },
	{ "luajit*", "LuaJIT has to be built with -DLUAJIT_USE_PERFTOOLS; luajit -joff has it "
		     "interpreted" },
	{ "nvim*", "':lua jit.off()' has LuaJIT interpret, with whole stacks" },
	{ "nginx*",
	  "require('jit').off() in init_by_lua_block has LuaJIT interpret, with whole "
	  "stacks" },
	{ "tarantool*", "jit.off() at the script's start has it interpreted" },
	{ "postgres*", "SET jit = off has queries interpreted" },
	{ "grep", "(*NO_JIT) at a pattern's beginning has it interpreted" },
	{ "pcre*grep", "--no-jit has patterns interpreted" },
	{ "mono*",
	  "mono --jitmap, and MONO_DEBUG=disable_omit_fp in the environment for whole stacks" },
	{ "rakudo*", "MVM_JIT_PERF_MAP=1 in the environment" },
	{ "moar*", "MVM_JIT_PERF_MAP=1 in the environment" },
	{ "qemu-*", "qemu -perfmap, from 8.0 on" },
	{ "guile*", "GUILE_JIT_THRESHOLD=-1 in the environment has it interpreted" },
	{ "pypy*", "PyPy has no perf map: --jit off has it interpreted" },
	{ "wasmtime*", "wasmtime run --profile=perfmap" },
	{ "*", "the runtime may have an option to write a perf map (/tmp/perf-PID.map) or a "
	       "jitdump" },
};

const char *made_code_advice(const char *program)
{
	size_t i = 0;

	while (fnmatch(runtimes[i].pattern, program, 0) != 0 &&
	       strcmp(runtimes[i].pattern, "*") != 0)
		i++;
	return runtimes[i].advice;
}

struct noting {
	const struct table *nameless;
	struct notes *notes;
};

static int note_process(void *context, const struct recording_process *row)
{
	const struct noting *noting = context;
	const char *slash = row->exe ? strrchr(row->exe, '/') : NULL;
	const char *program = slash ? slash + 1 : row->exe ? row->exe : row->name;
	uint64_t addresses = 0;

	if (!program || !table_get(noting->nameless, 0, row->id, &addresses) ||
	    addresses < LEAST_ADDRESSES)
		return 0;
	notes_add(noting->notes, "code that %s made while it ran has no names: %s", program,
		  made_code_advice(program));
	return 0;
}

int made_code_note(struct recording_reader *reader, const struct table *nameless,
		   struct notes *notes, struct error *err)
{
	struct noting noting = { nameless, notes };

	return recording_reader_each_process(reader, note_process, &noting, err);
}
