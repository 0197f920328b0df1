#include "agent/interpreters/ruby/names.h"

#include "abi/ring.h"
#include "agent/core/codes.h"
#include "agent/core/walk.h"
#include "agent/interpreters/ruby/scratch.h"
#include "agent/interpreters/ruby/state.h"
#include "walk/ruby_code.h"
#include "walk/ruby_line.h"
#include "walk/ruby_names.h"

#define KEPT 8192U

/*
 * Kept words, each with its hash XOR the word: an entry of which two threads wrote a half each
 * matches no hash.  The hash is of all that the word was made of, and of its generation.
 */
static struct {
	u64 check, word;
} kept[KEPT];

/* Numbers walks whose words are valid in themselves only. */
static u64 lone_walks;

static u64 kept_get(u64 hash)
{
	const u32 slot = (u32)(hash >> 51) % KEPT;
	const u64 word = __atomic_load_n(&kept[slot].word, __ATOMIC_RELAXED);

	return (__atomic_load_n(&kept[slot].check, __ATOMIC_RELAXED) ^ word) == hash ? word : 0;
}

static void kept_put(u64 hash, u64 word)
{
	const u32 slot = (u32)(hash >> 51) % KEPT;

	__atomic_store_n(&kept[slot].check, hash ^ word, __ATOMIC_RELAXED);
	__atomic_store_n(&kept[slot].word, word, __ATOMIC_RELAXED);
}

void ruby_names_begin(struct walk *walk, struct mem *mem)
{
	struct ruby_scratch *scratch = walk->ruby;
	u64 collections;

	if (!ruby_is_marking(scratch->objspace_flags) &&
	    ruby_collections(mem, scratch->layout, scratch->context, &collections))
		scratch->generation = collections << 1;
	else
		scratch->generation =
			__atomic_fetch_add(&lone_walks, 1, __ATOMIC_RELAXED) << 1 | 1;
}

static u64 hash_of(const struct walk *walk, u64 iseq, u64 method, u64 place)
{
	/*
	 * A child of fork inherits the kept words, and epoch and generation are small numbers:
	 * mixed only with each other, a later child's earlier generation would have the same
	 * hash.
	 */
	u64 hash = code_mix(code_mix(0, walk->epoch), walk->ruby->generation);

	hash = code_mix(code_mix(hash, iseq), method);
	return code_mix(hash, place);
}

/* Sends the recorder a code whose texts are in the scratch. */
static bool report(struct walk *walk, struct mem *mem, u64 key, const struct ruby_code *parts)
{
	const struct name_text *texts = walk->ruby->texts;
	const struct code code = {
		.key = key,
		.kind = parts->iseq != 0 ? RING_CODE_RUBY : RING_CODE_RUBY_BUILTIN,
		.first_line = parts->first_line,
		.name = &texts[0],
		.qualified = &texts[1],
		.file = &texts[2],
	};

	return codes_send(walk->ring, walk->epoch, mem, &code);
}

u64 ruby_name_code(struct walk *walk, struct mem *mem, const struct ruby_code *parts)
{
	const struct ruby_layout *layout = walk->ruby->layout;
	struct name_text *texts = walk->ruby->texts;
	const u64 key = ruby_code_key(mem, layout, parts);

	if (codes_has_sent(key, walk->epoch))
		return key;
	if (ruby_code_texts(mem, layout, parts, &texts[0], &texts[1], &texts[2]) < 0)
		return 0;
	if (!report(walk, mem, key, parts))
		walk->is_lost = true;
	return key;
}

/*
 * Whether a name is valid as long as its object: a class without one may get one at any time, by
 * being assigned to a constant.
 */
static bool is_named(const struct ruby_code *parts)
{
	return parts->method == 0 || parts->owner.path != 0;
}

static u64 make_word(struct walk *walk, struct mem *mem, const struct ruby_frame *frame,
		     bool stands_at, bool *out_holds)
{
	const struct ruby_layout *layout = walk->ruby->layout;
	u32 line = CODE_NO_INSTRUCTION;
	struct ruby_code parts;

	*out_holds = false;
	if (ruby_code_read(mem, layout, frame, &parts) < 0)
		return 0;
	*out_holds = is_named(&parts);
	if (frame->kind == RUBY_FRAME_ISEQ && frame->pc != 0)
		line = ruby_line_of(mem, layout, frame, stands_at);
	const u64 key = ruby_name_code(walk, mem, &parts);

	return key != 0 ? code_word(key, line) : 0;
}

u64 ruby_name_frame(struct walk *walk, struct mem *mem, const struct ruby_frame *frame,
		    bool stands_at)
{
	const u64 hash = hash_of(walk, frame->iseq, frame->method, frame->pc | stands_at);
	u64 word = kept_get(hash);
	bool holds;

	if (word != 0)
		return word;
	word = make_word(walk, mem, frame, stands_at, &holds);
	if (word != 0 && holds && !walk->is_lost)
		kept_put(hash, word);
	return word;
}

u64 ruby_name_leaf(struct walk *walk, struct mem *mem, const struct ruby_leaf *leaf)
{
	struct ruby_code parts;

	if (leaf->operation == RUBY_OPERATOR_NONE ||
	    ruby_code_of_leaf(mem, walk->ruby->layout, leaf, &parts) < 0)
		return 0;
	const u64 key = ruby_name_code(walk, mem, &parts);

	return key != 0 ? code_word(key, CODE_NO_INSTRUCTION) : 0;
}

static const char *const phases[] = { "", ": marking", ": sweeping", ": compacting" };

static u32 phase_of(const struct ruby_layout *layout, u32 objspace_flags)
{
	const u32 mode = objspace_flags & RUBY_OBJSPACE_MODE;

	/* Up to 3.1 compacting is no mode of its own. */
	if (ruby_is_compacting(layout, objspace_flags) && !ruby_is_marking(objspace_flags))
		return 3;
	return mode;
}

u64 ruby_name_collection(struct walk *walk, struct mem *mem, u32 objspace_flags)
{
	const u32 phase = phase_of(walk->ruby->layout, objspace_flags);
	struct name_text *texts = walk->ruby->texts;
	/* "garbage" as a number: no object has that address. */
	const u64 key = code_key_of_hash(code_mix(0x6761726261676500ULL, phase));
	const struct code code = {
		.key = key,
		.kind = RING_CODE_RUBY_BUILTIN,
		.name = &texts[0],
		.qualified = &texts[1],
		.file = &texts[2],
	};

	if (!codes_has_sent(key, walk->epoch)) {
		for (u32 i = 0; i < 3; i++)
			texts[i].length = texts[i].is_cut = 0;
		name_text_add(&texts[0], "[garbage collection");
		name_text_add(&texts[0], phases[phase]);
		name_text_add(&texts[0], "]");
		if (!codes_send(walk->ring, walk->epoch, mem, &code))
			walk->is_lost = true;
	}
	return code_word(key, CODE_NO_INSTRUCTION);
}
