#include "vantage/agent/trace/native/trace_twice.h"

#include <elf.h>

#include "vantage/agent/trace/native/trace_sleds_table.h"

/* From where a function begins to where its hook has been called, at most. */
#define PROLOGUE_MAX 256U
/* From its hook's stack pointer to its return address, at most. */
#define FRAME_MAX (64U << 10)
/* By as much an identity may lie behind the hook's call. */
#define BEHIND_MAX 2U

#define CALL_BYTES 5U /* call rel32 */
#define STUB_MAX   16U

/* What a call, or a jump, of two bytes and a distance goes through: the address of a word. */
static u64 word_of(u64 at)
{
	s32 distance;

	__builtin_memcpy(&distance, (const void *)(at + 2), sizeof distance);
	return at + 2 + sizeof distance + (u64)(s64)distance;
}

static u64 target_of(u64 at)
{
	s32 distance;

	__builtin_memcpy(&distance, (const void *)(at + 1), sizeof distance);
	return at + CALL_BYTES + (u64)(s64)distance;
}

static bool is_call(u64 at)
{
	return *(const u8 *)at == 0xe8;
}

/* `call *rel32(%rip)`, or, of a stub for a function elsewhere, `jmp *rel32(%rip)`. */
static bool is_through_word(u64 at, u8 what)
{
	const u8 *code = (const u8 *)at;

	return code[0] == 0xff && code[1] == what;
}

/* Where the call that ends here begins, in a function that begins there; 0: none does. */
static u64 call_before(u64 end, u64 function)
{
	const u64 bytes = end - function;

	if (bytes > CALL_BYTES && is_through_word(end - CALL_BYTES - 1, 0x15))
		return end - CALL_BYTES - 1;
	return bytes >= CALL_BYTES && is_call(end - CALL_BYTES) ? end - CALL_BYTES : 0;
}

/* Whether this call of a hook is the first one from there on. */
static bool is_first(u64 from, u64 call)
{
	const bool is_near = is_call(call);
	const u64 hook = is_near ? target_of(call) : word_of(call);

	for (u64 at = from; at < call; at++) {
		if (is_near ? is_call(at) && target_of(at) == hook
			    : is_through_word(at, 0x15) && word_of(at) == hook)
			return false;
	}
	return true;
}

/*
 * Whether the call of a hook that this identity is of (trace_slot.h) is the first one behind the
 * beginning of a function, and so is in it.
 */
static bool is_of(u64 function, u64 identity)
{
	u64 call = 0;

	if (identity < function + CALL_BYTES || identity - function > PROLOGUE_MAX)
		return false;
	for (u32 i = 0; i <= BEHIND_MAX && call == 0; i++)
		call = call_before(identity - i, function);
	return call != 0 && is_first(function, call);
}

/*
 * Whether a function that says that it begins is a copy, which gcc has made for some of its callers
 * (work.constprop.0) and which says the name of the original: both hooks are of one frame, for there
 * is one return address, and what was inlined in that has its hook behind its own.
 */
static bool is_of_copy(const struct trace_native_event *begin, u64 identity, u64 slot)
{
	if (begin->behind < identity + CALL_BYTES || begin->behind - identity > PROLOGUE_MAX ||
	    slot - begin->level > FRAME_MAX)
		return false;
	const u64 call = call_before(begin->behind, identity);

	return call != 0 && is_first(identity, call) &&
	       *(const u64 *)slot == begin->return_address;
}

bool trace_twice_has_caller(const struct tracer *tracer, const struct trace_native_event *begin)
{
	(void)tracer;
	return is_of(begin->function, begin->behind);
}

static void tell(void)
{
	struct trace_area *area = trace_area_of_process();

	__atomic_store_n(&trace_native.has_twice, 1, __ATOMIC_RELAXED);
	if (area != NULL)
		__atomic_store_n(&area->has_twice, 1, __ATOMIC_RELAXED);
}

bool trace_twice_is_told(struct tracer *tracer, const struct trace_native_event *begin)
{
	struct trace_native_own *own = &trace_native_own;
	struct trace_entry *top = tracer->top;
	const u64 bare = own->bare_identity;

	own->bare_identity = 0;
	if (bare != 0 && own->bare_level > begin->level) {
		if (!is_of(begin->function, bare) && !is_of_copy(begin, bare, own->bare_level))
			return false;
	} else {
		if (!trace_native_has_slot(top) || (top->named & TRACE_SLOT_TOLD_TWICE) ||
		    top->frame <= begin->level ||
		    (!is_of(begin->function, top->object) &&
		     !is_of_copy(begin, top->object, top->frame)))
			return false;
		top->named |= begin->function << TRACE_SLOT_BITS | TRACE_SLOT_TOLD_TWICE;
	}
	tell();
	return true;
}

bool trace_twice_is_awaited(const struct trace_entry *entry, u64 function)
{
	return trace_native_has_slot(entry) && (entry->named & TRACE_SLOT_TOLD_TWICE) &&
	       entry->named >> TRACE_SLOT_BITS == function;
}

void trace_twice_remember(const struct trace_native_event *begin)
{
	trace_native_own.bare_identity = begin->function;
	trace_native_own.bare_level = begin->level;
}

static bool is_counted_hook(const char *name)
{
	return (__builtin_strcmp(name, "mcount") == 0 && trace_native.on_mcount) ||
	       (__builtin_strcmp(name, "_mcount") == 0 && trace_native.on__mcount) ||
	       (__builtin_strcmp(name, "__fentry__") == 0 && trace_native.on_fentry);
}

void trace_twice_find_words(const struct trace_sleds_table *table, u64 load_bias,
			    struct trace_twice_words *out_words)
{
	struct trace_sleds_symbols symbols = { 0 };
	const char *name;
	u64 place;

	out_words->count = 0;
	while (out_words->count < TRACE_TWICE_WORDS &&
	       trace_sleds_table_next_symbol(table, &symbols, &name, &place)) {
		if (is_counted_hook(name))
			out_words->at[out_words->count++] = load_bias + place;
	}
}

static bool is_one(const struct trace_twice_words *words, u64 word)
{
	u32 i = 0;

	while (i < words->count && words->at[i] != word)
		i++;
	return i < words->count;
}

/* The stub that a call by its distance leads to: `jmp` through a word, behind `endbr64` and `bnd`. */
static bool leads_to_one(const struct trace_twice_words *words, u64 stub)
{
	static const u8 landing[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	if (stub < words->low || stub > words->high - STUB_MAX)
		return false;
	if (__builtin_memcmp((const void *)stub, landing, sizeof landing) == 0)
		stub += sizeof landing;
	if (*(const u8 *)stub == 0xf2)
		stub++;
	return is_through_word(stub, 0x25) && is_one(words, word_of(stub));
}

bool trace_twice_calls_hook(const struct trace_twice_words *words, u64 begin, u64 end)
{
	if (words->count == 0)
		return false;
	if (end - begin > PROLOGUE_MAX)
		end = begin + PROLOGUE_MAX;
	/* The next function may be of another segment. */
	if (end > words->high)
		end = words->high;
	for (u64 at = begin; at + CALL_BYTES < end; at++) {
		if ((is_through_word(at, 0x15) && is_one(words, word_of(at))) ||
		    (is_call(at) && leads_to_one(words, target_of(at))))
			return true;
	}
	return false;
}
