#include "agent/interpreters/python/names.h"

#include "abi/ring.h"
#include "agent/core/codes.h"
#include "agent/core/memory.h"
#include "agent/core/thread_name.h"
#include "agent/core/walk.h"
#include "agent/interpreters/python/builtins.h"
#include "agent/interpreters/python/scratch.h"
#include "walk/python_builtin.h"
#include "walk/python_code.h"
#include "walk/python_thread.h"

#define ABSENT_PAGES 64U
#define ABSENT_LOOKS 100U

/* Unreadable pages: the address, and in its low bits how often it is skipped yet; 0: free. */
static u64 absent[ABSENT_PAGES];

/* Sends a code object's names to the recorder. */
static bool report_code(struct walk *walk, struct mem *mem, u64 key,
			const struct python_code *parts)
{
	struct python_scratch *scratch = walk->python;
	const struct python_layout *layout = scratch->layout;
	struct code code = {
		.key = key,
		.table_at = parts->table + layout->offsets.bytes_data,
		.first_line = parts->first_line,
		.kind = RING_CODE_PYTHON,
		.table = layout->table,
		.name = &scratch->texts[0],
		.qualified = &scratch->texts[1],
		.file = &scratch->texts[2],
	};

	python_text_read(mem, layout, parts->name, &scratch->texts[0]);
	python_text_read(mem, layout, parts->qualified_name, &scratch->texts[1]);
	python_text_read(mem, layout, parts->file, &scratch->texts[2]);
	if (python_read(mem, &code.table_length, parts->table, layout->offsets.bytes_length) <
	    0)
		code.table_length = 0;
	return codes_send(walk->ring, walk->epoch, mem, &code);
}

u64 python_name_code(struct walk *walk, struct mem *mem, u64 code)
{
	struct python_scratch *scratch = walk->python;
	const u32 slot = (u32)(code * 0x9e3779b97f4a7c15ULL >> 58) % PYTHON_MEMO;
	struct python_code parts;

	if (scratch->memo[slot].code == code)
		return scratch->memo[slot].key;
	if (python_code_read(mem, scratch->layout, code, &parts) < 0)
		return 0;
	const u64 key = python_code_key(mem, scratch->layout, code, &parts);

	/* A stack whose names could not be sent is not sent either. */
	if (!codes_has_sent(key, walk->epoch) && !report_code(walk, mem, key, &parts))
		walk->is_lost = true;
	scratch->memo[slot].code = code;
	scratch->memo[slot].key = key;
	return key;
}

u64 python_name_frame(struct walk *walk, struct mem *mem, const struct python_frame *frame)
{
	walk->python->outermost = *frame;
	const u64 key = python_name_code(walk, mem, frame->code);

	return key != 0 ? code_word(key, frame->instruction) : 0;
}

/* The native frames that an activation called, from the loop's word inwards. */
static u32 near_frames(const struct walk *walk, u32 loop, u64 addresses[PYTHON_NEAR_FRAMES])
{
	u32 count = 0;

	while (loop > 0 && count < PYTHON_NEAR_FRAMES) {
		const u64 word = walk->frames[--loop];

		if (word & RING_INTERPRETED)
			return count;
		addresses[count++] = word;
	}
	if (loop == 0 && count < PYTHON_NEAR_FRAMES)
		addresses[count++] = walk->leaf;
	return count;
}

static bool is_same(const struct python_builtin *a, const struct python_builtin *b)
{
	return a->name == b->name && a->function == b->function && a->module == b->module &&
	       a->type == b->type;
}

/*
 * Whether the object's page is one that could not be read.  Slots above the top of a stack may
 * point to former objects, in memory that was unmapped: a load from there costs a fault each
 * time.  So such pages are skipped for a number of looks; they may be mapped again.
 */
static bool is_absent(u64 object)
{
	u64 *const slot = &absent[object / MEMORY_PAGE % ABSENT_PAGES];
	const u64 word = __atomic_load_n(slot, __ATOMIC_RELAXED);

	if (word / MEMORY_PAGE != object / MEMORY_PAGE || word % MEMORY_PAGE == 0)
		return false;
	__atomic_store_n(slot, word - 1, __ATOMIC_RELAXED);
	return true;
}

static void note_absent(u64 object)
{
	__atomic_store_n(&absent[object / MEMORY_PAGE % ABSENT_PAGES],
			 object - object % MEMORY_PAGE + ABSENT_LOOKS, __ATOMIC_RELAXED);
}

/* Looks at one object of the stack; called from the top downwards. */
static void look_at(struct walk *walk, struct mem *mem, struct python_search *search,
		    u64 object)
{
	const u32 limit = search->best < search->count ? search->best + 1 : search->count;
	struct python_builtin builtin;
	u64 type;

	if (is_absent(object))
		return;
	const bool may_load = mem->loads == MEMORY_LOADS;

	if (python_read(mem, &type, object, walk->python->layout->offsets.object_type) < 0) {
		/* Without loads the page may be readable all the same. */
		if (may_load)
			note_absent(object);
		return;
	}
	if (python_builtin_read(mem, walk->python->layout, object, &builtin) < 0)
		return;
	const u32 at = builtins_find(mem, walk->rules, builtin.function, search->near, limit);

	if (at == limit)
		return;
	if (at < search->best) {
		search->best = at;
		search->found = builtin;
		search->is_doubtful = false;
	} else if (!search->is_top_known && !is_same(&builtin, &search->found)) {
		/* Which is in use is not known: above the top there may be stale pointers. */
		search->is_doubtful = true;
	}
}

/*
 * The C function that the frame has called and that the frames before word number `loop` belong
 * to; false if it is not known.
 */
static bool find_builtin(struct walk *walk, struct mem *mem, const struct python_frame *frame,
			 u32 loop, struct python_builtin *out_builtin)
{
	const struct python_layout *layout = walk->python->layout;
	struct python_search *search = &walk->python->search;
	struct python_slots slots;
	u64 object;

	search->count = near_frames(walk, loop, search->near);
	search->best = search->count;
	search->is_top_known = layout->offsets.frame_stack != PYTHON_NO_FIELD;
	search->is_doubtful = false;
	if (python_slots_of(mem, layout, frame, &slots) < 0)
		return false;
	for (u32 i = 0; i < PYTHON_SLOTS_MAX && slots.end > slots.begin; i++) {
		slots.end -= sizeof object;
		if (mem_read(mem, &object, sizeof object, slots.end) < 0)
			return false;
		object = python_slot_object(object);
		if (object != 0)
			look_at(walk, mem, search, object);
	}
	*out_builtin = search->found;
	return search->best < search->count && !search->is_doubtful;
}

static bool report_builtin(struct walk *walk, struct mem *mem, u64 key,
			   const struct python_builtin *builtin)
{
	struct name_text *texts = walk->python->texts;
	const struct code code = {
		.key = key,
		.kind = RING_CODE_PYTHON_BUILTIN,
		.name = &texts[0],
		.qualified = &texts[1],
		.file = &texts[2],
	};

	texts[2].length = 0;
	texts[2].is_cut = 0;
	python_builtin_texts(mem, walk->python->layout, builtin, &texts[0], &texts[1]);
	return codes_send(walk->ring, walk->epoch, mem, &code);
}

u64 python_name_callee(struct walk *walk, struct mem *mem, const struct python_frame *frame,
		       u32 loop)
{
	struct python_builtin builtin;

	if (!find_builtin(walk, mem, frame, loop, &builtin))
		return 0;
	const u64 key = python_builtin_key(mem, walk->python->layout, &builtin);

	if (!codes_has_sent(key, walk->epoch) && !report_builtin(walk, mem, key, &builtin))
		walk->is_lost = true;
	return code_word(key, CODE_NO_INSTRUCTION);
}

void python_name_thread(struct walk *walk, struct mem *mem)
{
	struct python_scratch *scratch = walk->python;

	if (thread_name_is_due() &&
	    python_thread_name(mem, scratch->layout, &scratch->outermost, &scratch->texts[0]) >=
		    0)
		thread_name_send(walk->ring, &scratch->texts[0]);
}
