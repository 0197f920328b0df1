#include "dump/core_head.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/core_memory.h"
#include "report/json.h"

/* Files named in the text; JSON has all. */
#define MOST_NAMED 8U

void dump_add_signal_name(int number, struct text *out)
{
	const char *name = sigabbrev_np(number);

	if (name)
		text_addf(out, "SIG%s", name);
	else
		text_addf(out, "signal %d", number);
}

/* The kernel's reason for a fault (asm-generic/siginfo.h); NULL: none. */
static const char *fault_reason(const struct core_signal *signal)
{
	if (signal->number == SIGSEGV && signal->code == SEGV_MAPERR)
		return "which is not mapped";
	if (signal->number == SIGSEGV && signal->code == SEGV_ACCERR)
		return "which is protected against that access";
	if (signal->number == SIGBUS && signal->code == BUS_ADRERR)
		return "behind the end of a file";
	return signal->number == SIGFPE && signal->code == FPE_INTDIV ? "a division by zero"
								      : NULL;
}

void dump_add_signal(const struct core *core, struct text *out)
{
	const struct core_signal *signal = &core->file.signal;
	const char *reason = fault_reason(signal);

	if (signal->number == 0 && core->file.threads[0].signal != 0) {
		dump_add_signal_name(core->file.threads[0].signal, out);
		return;
	}
	if (signal->number == 0) {
		text_add(out, "none: the process ran when the core was written");
		return;
	}
	dump_add_signal_name(signal->number, out);
	if (signal->code > 0 && (signal->number == SIGSEGV || signal->number == SIGBUS ||
				 signal->number == SIGILL || signal->number == SIGFPE)) {
		text_addf(out, " at address 0x%" PRIx64, signal->address);
		text_add(out, reason ? ", " : "");
		text_add(out, reason ? reason : "");
	} else if (signal->sender == core->file.pid && signal->sender != 0) {
		text_add(out, ", sent by itself");
	} else if (signal->sender > 0) {
		text_addf(out, ", sent by process %d", (int)signal->sender);
	}
}

/* Visits each file with code that is missing here, once. */
static void visit_missing(struct core *core,
			  void (*visit)(void *context, const char *path, bool is_other),
			  void *context)
{
	uint32_t last = 0;

	for (size_t i = 0; i < core->file.mapping_count; i++) {
		const struct core_mapping *m = &core->file.mappings[i];
		const struct core_segment *s = core_file_segment(&core->file, m->start);

		/* Only code is read from files; data is in the core. */
		if (m->file == last || !s || !s->is_executable)
			continue;
		last = m->file;
		const enum core_fit fit = core_fit_at(core, m->start);

		if (fit == CORE_FIT_ABSENT || fit == CORE_FIT_OTHER)
			visit(context, m->path, fit == CORE_FIT_OTHER);
	}
}

struct listing {
	struct text *out;
	size_t count;
};

static void list(void *context, const char *path, bool is_other)
{
	struct listing *listing = context;

	if (listing->count++ >= MOST_NAMED)
		return;
	text_add(listing->out, "missing  ");
	text_add_printable(listing->out, path, strlen(path));
	text_add(listing->out, is_other ? " is another build here\n" : " is not here\n");
}

void dump_add_missing(struct core *core, struct text *out)
{
	struct listing listing = { .out = out };

	if (core->file.claimed > core->file.size)
		text_addf(out,
			  "cut      the core has %" PRIu64 " of %" PRIu64
			  " bytes: what was in the rest cannot be read\n",
			  core->file.size, core->file.claimed);
	visit_missing(core, list, &listing);
	if (listing.count > MOST_NAMED)
		text_addf(out, "missing  and %zu more\n", listing.count - MOST_NAMED);
	if (listing.count > 0)
		text_add(out, "         stacks may be cut: --root DIR has files elsewhere, a "
			      "last argument the program\n");
}

static void add_to_array(void *context, const char *path, bool is_other)
{
	(void)is_other;
	json_object_array_add(context, json_new_string(path));
}

static struct json_object *signal_object(const struct core *core)
{
	const struct core_signal *signal = &core->file.signal;
	const int number = signal->number ? signal->number : core->file.threads[0].signal;
	CLEANUP(text_done) struct text name = { 0 };
	struct json_object *object;
	char address[24];

	if (number == 0)
		return NULL;
	object = json_object_new_object();
	dump_add_signal_name(number, &name);
	json_add_u64(object, "number", (uint64_t)number);
	json_add_string(object, "name", text_string(&name));
	json_add(object, "code", signal->number ? json_object_new_int(signal->code) : NULL);
	snprintf(address, sizeof address, "0x%" PRIx64, signal->address);
	json_add_string(object, "address", fault_reason(signal) ? address : NULL);
	json_add_figure(object, "sender", (uint64_t)signal->sender, 0);
	json_add_u64(object, "tid", (uint64_t)core->file.threads[0].tid);
	return object;
}

struct json_object *dump_core_object(struct core *core)
{
	struct json_object *object = json_object_new_object();
	struct json_object *missing = json_object_new_array();

	json_add_string(object, "file", core->path);
	json_add(object, "signal", signal_object(core));
	json_add(object, "is_cut",
		 json_object_new_boolean(core->file.claimed > core->file.size));
	visit_missing(core, add_to_array, missing);
	json_add(object, "missing_files", missing);
	return object;
}
