#include "remote/walk_i386.h"

#include <elf.h>
#include <string.h>

#include "abi/walk_status.h"
#include "base/memory.h"
#include "remote/i386_row.h"
#include "remote/process.h"
#include "remote/stack.h"
#include "remote/stack_copy.h"
#include "remote/unwind_files.h"
#include "remote/walk.h"

#define MOST_SIGNALS 64U
/* Programs have some thousand call sites that matter; colliding rows are found anew. */
#define KNOWN_ROWS 8192U

/* Cached rows, by file and place in it. */
struct i386_rows {
	struct {
		uint64_t file_id, place; /* 0: unused */
		struct i386_row row;
	} known[KNOWN_ROWS];
};

/* State of the walk, which goes outwards. */
struct steps {
	struct remote *remote;
	struct i386_rows *rows;
	uint32_t ip;
	uint32_t registers[I386_REGISTERS];
	uint32_t known; /* a bit for each register */
	bool is_exact;  /* ip is not a return address */
	bool is_last;
	uint32_t signals;
};

static bool read_word(const struct steps *steps, uint32_t address, uint32_t *out_word)
{
	return memory_read(&steps->remote->mem, out_word, sizeof *out_word, address) == 0;
}

static void find_row(const struct steps *steps, const struct remote_image *image,
		     uint32_t lookup, struct i386_row *out_row)
{
	const uint64_t place = lookup - image->bias;
	const uint64_t slot = (place ^ (uint64_t)image->file_id * 2654435761U) % KNOWN_ROWS;

	if (image->file_id != 0 && steps->rows->known[slot].file_id == image->file_id &&
	    steps->rows->known[slot].place == place) {
		*out_row = steps->rows->known[slot].row;
		return;
	}
	i386_row_find(&steps->remote->mem, &image->native, lookup, out_row);
	if (image->file_id == 0 || out_row->status == WALK_UNREADABLE)
		return;
	steps->rows->known[slot].file_id = image->file_id;
	steps->rows->known[slot].place = place;
	steps->rows->known[slot].row = *out_row;
}

static bool is_known(const struct steps *steps, uint8_t reg)
{
	return reg < I386_REGISTERS && (steps->known >> reg & 1);
}

static enum walk_status find_cfa(const struct steps *steps, const struct cfa_base *base,
				 uint32_t *out_cfa)
{
	if (base->kind == CFA_BASE_PLT) {
		*out_cfa = steps->registers[I386_ESP] + 4 +
			   ((steps->ip & 15) >= (uint32_t)base->offset ? 4 : 0);
		return WALK_COMPLETE;
	}
	if ((base->kind != CFA_BASE_REG && base->kind != CFA_BASE_DEREF) ||
	    !is_known(steps, base->reg))
		return WALK_BAD_RULE;
	*out_cfa = steps->registers[base->reg] + (uint32_t)base->offset;
	if (base->kind == CFA_BASE_REG)
		return WALK_COMPLETE;
	if (!read_word(steps, *out_cfa, out_cfa))
		return WALK_UNREADABLE;
	*out_cfa += base->add;
	return WALK_COMPLETE;
}

/* Finds the address of the caller's value of a register; false: it is not in memory. */
static bool find_slot(const struct steps *steps, const struct cfa_place *place, uint32_t cfa,
		      uint32_t *out_slot)
{
	if (place->kind == CFA_PLACE_AT_CFA)
		*out_slot = cfa + (uint32_t)place->offset;
	else if (place->kind == CFA_PLACE_AT_REG && is_known(steps, place->reg))
		*out_slot = steps->registers[place->reg] + (uint32_t)place->offset;
	else
		return false;
	return true;
}

/* Restores ebp: apart from esp, the only caller's register that further rules use. */
static void restore_frame_pointer(struct steps *steps, const struct cfa_place *place,
				  uint32_t cfa)
{
	uint32_t slot;

	/* A slot that an epilogue has already popped is below esp, and not in the copy. */
	if (find_slot(steps, place, cfa, &slot)) {
		if (read_word(steps, slot, &steps->registers[I386_EBP]))
			steps->known |= 1U << I386_EBP;
		else if (slot >= steps->registers[I386_ESP])
			steps->known &= ~(1U << I386_EBP);
	} else if (place->kind != CFA_PLACE_SAME) {
		steps->known &= ~(1U << I386_EBP);
	}
}

static enum walk_status step_by_row(struct steps *steps, const struct i386_row *row)
{
	const struct cfa_place *column = row->row.column;
	uint32_t cfa = 0, slot, ip;
	enum walk_status status;

	if (column[CFA_COLUMN_RA].kind == CFA_PLACE_UNDEFINED) {
		steps->is_last = true;
		return WALK_COMPLETE;
	}
	status = find_cfa(steps, &row->row.cfa, &cfa);
	if (status != WALK_COMPLETE)
		return status;
	/* Only a signal frame may lead to another stack. */
	if (row->is_signal_frame ? ++steps->signals > MOST_SIGNALS
				 : cfa <= steps->registers[I386_ESP] || (cfa & 3) != 0)
		return WALK_NO_PROGRESS;
	if (!find_slot(steps, &column[CFA_COLUMN_RA], cfa, &slot))
		return WALK_BAD_RULE;
	if (!read_word(steps, slot, &ip))
		return WALK_UNREADABLE;
	restore_frame_pointer(steps, &column[CFA_COLUMN_FP], cfa);
	steps->registers[I386_ESP] = cfa;
	steps->known &= 1U << I386_EBP | 1U << I386_ESP;
	steps->ip = ip;
	steps->is_exact = row->is_signal_frame;
	steps->is_last = ip == 0;
	return WALK_COMPLETE;
}

/* Reads the pair [caller's ebp, return address] at ebp. */
static bool step_by_frame_pointer(struct steps *steps)
{
	const uint32_t fp = steps->registers[I386_EBP];
	uint32_t next_fp, ip;

	if (!is_known(steps, I386_EBP) || (fp & 3) != 0 || fp < steps->registers[I386_ESP] ||
	    !read_word(steps, fp, &next_fp) || !read_word(steps, fp + 4, &ip) ||
	    !remote_images_find(&steps->remote->images, ip) ||
	    !native_follows_call(&steps->remote->mem, ip))
		return false;
	steps->registers[I386_EBP] = next_fp;
	steps->registers[I386_ESP] = fp + 8;
	steps->known = 1U << I386_EBP | 1U << I386_ESP;
	steps->ip = ip;
	steps->is_exact = false;
	return true;
}

/* Functions of the vdso that never return have no rule after their int $0x80. */
static bool is_in_system_call(const struct steps *steps)
{
	static const uint8_t code[] = { 0xcd, 0x80 };
	uint8_t bytes[sizeof code];

	return memory_read(&steps->remote->mem, bytes, sizeof bytes,
			   steps->ip - sizeof bytes) == 0 &&
	       memcmp(bytes, code, sizeof code) == 0;
}

static enum walk_status step_outwards(struct steps *steps)
{
	const uint32_t lookup =
		steps->is_exact && !is_in_system_call(steps) ? steps->ip : steps->ip - 1;
	const struct remote_image *image = remote_images_find(&steps->remote->images, lookup);
	struct i386_row row = { .status = WALK_NO_MODULE };

	if (image && (!image->file || image->file->elf.machine == EM_386))
		find_row(steps, image, lookup, &row);
	if (row.status == WALK_COMPLETE)
		return step_by_row(steps, &row);
	if ((row.status == WALK_NO_RULE || row.status == WALK_NO_MODULE) &&
	    step_by_frame_pointer(steps))
		return WALK_COMPLETE;
	return (enum walk_status)row.status;
}

static void begin(struct steps *steps, const struct walk_registers *registers)
{
	/* The copy has x86-64's numbers for these registers. */
	static const uint8_t numbers[I386_REGISTERS] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	for (size_t i = 0; i < I386_REGISTERS; i++)
		steps->registers[i] = (uint32_t)registers->all[numbers[i]];
	steps->known = (1U << I386_REGISTERS) - 1;
	steps->ip = (uint32_t)registers->pc;
	steps->is_exact = true;
}

void walk_i386(struct remote *remote, struct i386_rows **rows, const struct stack_copy *copy,
	       struct remote_stack *stack)
{
	struct steps steps = { .remote = remote };
	enum walk_status status = WALK_COMPLETE;

	if (!*rows)
		*rows = xzalloc(sizeof **rows);
	steps.rows = *rows;
	begin(&steps, &copy->registers);
	stack_clear(stack);
	stack->until_ns = stack_clock_ns() + WALK_STACK_MOST_NS;
	while (status == WALK_COMPLETE && !steps.is_last) {
		const struct stack_frame frame = {
			.kind = STACK_NATIVE,
			.address = steps.is_exact ? steps.ip : steps.ip - 1,
			.sp = steps.registers[I386_ESP],
		};

		status = stack_push(stack, &frame) ? step_outwards(&steps) : WALK_TOO_DEEP;
	}
	/*
	 * Remove the frame: hand-written code pushed values that its unwind rule does not
	 * cover.
	 */
	if (status == WALK_NO_MODULE && !steps.is_exact &&
	    !native_follows_call(&remote->mem, steps.ip))
		stack->count--;
	stack->ending = (uint8_t)status;
}
