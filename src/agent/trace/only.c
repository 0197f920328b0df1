#include "agent/trace/only.h"

#include <string.h>

#include "abi/ring.h"
#include "agent/core/codes.h"
#include "agent/core/memory.h"
#include "agent/trace/area.h"
#include "agent/trace/calls.h"
#include "walk/name_text.h"

#define VERDICTS 65536U
#define PROBES   8U

enum verdict {
	NOT_KNOWN,
	WANTED,
	HIDDEN,
};

/* A copy: a child of fork that is not traced has no area. */
static char patterns[ONLY_BYTES];
/* Keys and identities whose lowest bit is the verdict; 0: free.  Entries are never removed. */
static u64 verdicts[VERDICTS];

void trace_only_begin(const struct trace_area *area)
{
	memcpy(patterns, area->only, sizeof patterns);
	/* The list ends, whatever the recorder wrote there. */
	patterns[sizeof patterns - 1] = '\0';
	patterns[sizeof patterns - 2] = '\0';
}

bool trace_only_is_on(void)
{
	return patterns[0] != '\0';
}

static u64 *place_of(u64 word, u32 probe)
{
	return &verdicts[((word * 0x9e3779b97f4a7c15ULL >> 48) + probe) % VERDICTS];
}

static enum verdict recall(u64 word)
{
	for (u32 i = 0; i < PROBES; i++) {
		const u64 there = __atomic_load_n(place_of(word, i), __ATOMIC_RELAXED);

		if (there == 0)
			break;
		if ((there | 1) == (word | 1))
			return there & 1 ? HIDDEN : WANTED;
	}
	return NOT_KNOWN;
}

/* Without room the verdict is not kept, but computed again: it will be the same. */
static void keep(u64 word, enum verdict verdict)
{
	const u64 kept = (word & ~1ULL) | (verdict == HIDDEN);

	for (u32 i = 0; i < PROBES && kept > 1; i++) {
		u64 there = 0;

		if (__atomic_compare_exchange_n(place_of(word, i), &there, kept, 0,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    (there | 1) == (word | 1))
			return;
	}
}

static struct only_text text_of(const struct name_text *text)
{
	return (struct only_text){ (const char *)text->bytes, text->length };
}

void trace_only_judge(const struct code *code)
{
	const struct only_callee callee = {
		.name = text_of(code->qualified->length != 0 ? code->qualified : code->name),
		.file = text_of(code->file),
		.is_python = true,
	};

	if (trace_only_is_on() && code->kind == RING_CODE_PYTHON)
		keep(code->key, only_matches(patterns, &callee) ? WANTED : HIDDEN);
}

bool trace_only_hides(const struct trace_call *call, u64 (*name_of)(const struct trace_call *))
{
	enum verdict verdict = recall(call->identity);

	if (verdict != NOT_KNOWN)
		return verdict == HIDDEN;
	if (trace_area_of_process() == NULL)
		return false;
	const u64 key = name_of(call);

	/* A callee that cannot be named now stays wanted: its end must not be skipped later. */
	verdict = key != 0 ? recall(key) : WANTED;
	keep(call->identity, verdict == HIDDEN ? HIDDEN : WANTED);
	return verdict == HIDDEN;
}
