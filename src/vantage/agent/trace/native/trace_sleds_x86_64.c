/*
 * An entry of the table (trace_sleds_table.h) says where a sled begins, and not where its
 * function does: of N bytes, M may stand before it (-fpatchable-function-entry=N,M), and nobody
 * executes those.  Where functions begin is in the unwind table's index.  A call takes five
 * bytes, and reaches two gibibytes; so there is a page near each image, a door, with a jump to
 * us.  It stays: images that come and go share it.
 */
#include "vantage/agent/trace/trace_map.h"
#include "vantage/agent/trace/native/trace_sleds.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/core/agent.h"
#include "agent/core/arch.h"
#include "vantage/agent/trace/trace.h"
#include "vantage/agent/trace/native/trace_linker.h"
#include "vantage/agent/trace/native/trace_near.h"
#include "vantage/agent/trace/native/trace_returns.h"
#include "vantage/agent/trace/native/trace_sleds_table.h"
#include "vantage/agent/trace/native/trace_twice.h"

#define CALL_BYTES 5U
/* Before a function, at most. */
#define BEFORE_MAX 64U
#define DOORS      16U

/* An image with sleds, at work. */
struct image {
	u64 low, high; /* its executable segment */
	u64 door;      /* the jump to us */
	/* Of the unwind table's index: sorted; distances from its header. */
	const s32 *index;
	u64 index_base;
	u32 index_count;
	struct trace_twice_words hooks; /* that its functions call by themselves */
};

static u64 doors[DOORS]; /* 0: none so far */
static bool is_begun, has_missed;

static void count(enum trace_sled result)
{
	struct trace_area *area = trace_area_of_process();

	if (area != NULL && result != TRACE_SLED_USED)
		__atomic_fetch_add(&area->sleds_left[result], 1, __ATOMIC_RELAXED);
}

/* What is loaded later is not looked at, or was not. */
static void tell_missed(void)
{
	struct trace_area *area = trace_area_of_process();

	has_missed = true;
	if (area != NULL)
		__atomic_store_n(&area->has_missed_sleds, 1, __ATOMIC_RELAXED);
}

static u64 make_door(const struct image *image)
{
	const u64 target = (u64)trace_native_sled;

	return trace_near_jumps(image->low, image->high, &target, 1);
}

static bool is_near(u64 door, const struct image *image)
{
	return (door < image->low ? image->high - door : door - image->low) <= TRACE_NEAR_REACH;
}

static bool find_door(struct image *image)
{
	for (u32 i = 0; i < DOORS; i++) {
		if (doors[i] == 0)
			doors[i] = make_door(image);
		if (doors[i] == 0)
			return false;
		image->door = doors[i];
		if (is_near(doors[i], image))
			return true;
	}
	return false;
}

/*
 * .eh_frame_hdr as linkers make it (LSB 5.0, 10.6.2): its own place as 32 bits, then the count.
 */
static bool find_index(const struct dl_phdr_info *info, struct image *image)
{
	static const u8 usual[] = { 1, 0x1b, 0x03, 0x3b };
	const u8 *header = NULL;

	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME &&
		    info->dlpi_phdr[i].p_memsz > sizeof usual + 2 * sizeof(u32))
			header = (const u8 *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	if (header == NULL || __builtin_memcmp(header, usual, sizeof usual) != 0)
		return false;
	image->index_base = (u64)header;
	__builtin_memcpy(&image->index_count, header + 8, sizeof image->index_count);
	image->index = (const s32 *)(const void *)(header + 12);
	return true;
}

static u64 begin_at(const struct image *image, u32 i)
{
	return image->index_base + (u64)(s64)image->index[2 * (size_t)i];
}

/* The function that begins at the address or after it; 0: none. */
static u64 find_begin(const struct image *image, u64 address)
{
	u32 low = 0, high = image->index_count;

	while (low < high) {
		const u32 middle = low + (high - low) / 2;

		if (begin_at(image, middle) < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->index_count ? begin_at(image, low) : 0;
}

u32 trace_sleds_nop_bytes(const u8 *code)
{
	u32 prefixes = 0;

	while (prefixes < 8 && (code[prefixes] == 0x66 || code[prefixes] == 0x2e))
		prefixes++;
	code += prefixes;
	if (code[0] == 0x90)
		return prefixes + 1;
	if (code[0] != 0x0f || code[1] != 0x1f || (code[2] & 0x38) != 0)
		return 0;
	const u32 mode = code[2] >> 6, has_index = (code[2] & 7) == 4;

	if (mode == 3 || (mode == 0 && (code[2] & 7) == 5))
		return 0;
	return prefixes + 3 + has_index + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
}

/* How many whole such instructions' bytes there are, up to as many as are wanted or more. */
static u32 nops_at(u64 address, u32 wanted)
{
	u32 count = 0, bytes = 1;

	while (count < wanted && bytes != 0) {
		bytes = trace_sleds_nop_bytes((const u8 *)(address + count));
		count += bytes;
	}
	return count;
}

static bool is_landing(u64 address)
{
	static const u8 landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */

	return __builtin_memcmp((const void *)address, landing, sizeof landing) == 0;
}

/*
 * Where in a function the call goes, of an entry of the table; 0: nowhere, and *out_result says
 * why.
 */
static u64 find_place(const struct image *image, u64 entry, enum trace_sled *out_result)
{
	u64 begin = find_begin(image, entry - 4);

	*out_result = TRACE_SLED_SHORT;
	/* Behind its first instruction, which is there for who jumps to it. */
	if (begin == entry - 4 && is_landing(begin))
		return nops_at(entry, CALL_BYTES) >= CALL_BYTES ? entry : 0;
	begin = find_begin(image, entry);
	if (begin == 0 || begin - entry > BEFORE_MAX) {
		*out_result = TRACE_SLED_UNKNOWN;
		return 0;
	}
	if (nops_at(entry, (u32)(begin - entry)) < begin - entry)
		return 0;
	if (is_landing(begin))
		begin += 4;
	return nops_at(begin, CALL_BYTES) >= CALL_BYTES ? begin : 0;
}

/* Whether the function with this sled was built with another of the flags, too. */
static bool has_hook(const struct image *image, u64 place)
{
	const u64 end = find_begin(image, place + 1);

	return trace_twice_calls_hook(&image->hooks, place, end != 0 ? end : image->high);
}

static enum trace_sled write_call(const struct image *image, u64 entry)
{
	enum trace_sled result = TRACE_SLED_USED;
	u8 call[CALL_BYTES] = { 0xe8 };

	/* In sections of their own: they are elsewhere. */
	if (entry < image->low + 4 || entry >= image->high - BEFORE_MAX)
		return TRACE_SLED_ELSEWHERE;
	const u64 place = find_place(image, entry, &result);
	const s64 distance = (s64)(image->door - (place + CALL_BYTES));

	if (place == 0)
		return result;
	if (distance != (s32)distance)
		return TRACE_SLED_FAR;
	/* Its own hook tells of the call. */
	if (has_hook(image, place))
		return TRACE_SLED_USED;
	const u32 bytes = nops_at(place, CALL_BYTES);

	__builtin_memcpy(call + 1, &(s32){ (s32)distance }, sizeof(s32));
	/* What is left of the last one is no instruction. */
	for (u32 i = CALL_BYTES; i < bytes; i++)
		((u8 *)place)[i] = 0x90;
	__builtin_memcpy((void *)place, call, sizeof call);
	return TRACE_SLED_USED;
}

/* The executable segment that holds an address; false: none, or it is odd. */
static bool find_text(const struct dl_phdr_info *info, u64 address, struct image *image)
{
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const u64 low = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < low ||
		    address - low >= segment->p_filesz)
			continue;
		image->low = low & ~(MEMORY_PAGE - 1);
		image->high = (low + segment->p_memsz + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
		return (segment->p_flags & (PF_R | PF_W | PF_X)) == (PF_R | PF_X);
	}
	return false;
}

static bool protect(const struct image *image, long protection)
{
	return arch_syscall4(SYS_mprotect, (long)image->low, (long)(image->high - image->low),
			     protection, 0) == 0;
}

/*
 * Executable meanwhile, too, though nobody executes it: where a policy lets nobody execute what
 * was written (SELinux' execmod), that is refused here, and not when it is too late.
 */
static enum trace_sled make_ready(const struct dl_phdr_info *info, u64 address,
				  struct image *image)
{
	if (!find_text(info, address, image))
		return TRACE_SLED_ELSEWHERE;
	if (!find_index(info, image))
		return TRACE_SLED_UNKNOWN;
	/* Before the door, which the same rules forbid. */
	if (!protect(image, PROT_READ | PROT_WRITE | PROT_EXEC))
		return TRACE_SLED_GUARDED;
	if (find_door(image))
		return TRACE_SLED_USED;
	trace_protect_again(image->low, image->high, PROT_READ | PROT_EXEC);
	return TRACE_SLED_FAR;
}

static void write_calls(const struct dl_phdr_info *info, struct trace_sleds_table *table)
{
	struct image image = { 0 };
	u64 entry = trace_sleds_table_next(table);

	if (entry == 0)
		return;
	const enum trace_sled ready = make_ready(info, info->dlpi_addr + entry, &image);

	trace_twice_find_words(table, info->dlpi_addr, &image.hooks);
	image.hooks.low = image.low;
	image.hooks.high = image.high;
	for (; entry != 0; entry = trace_sleds_table_next(table))
		count(ready == TRACE_SLED_USED ? write_call(&image, info->dlpi_addr + entry)
					       : ready);
	if (ready == TRACE_SLED_USED)
		trace_protect_again(image.low, image.high, PROT_READ | PROT_EXEC);
}

static void look_at_image(const struct dl_phdr_info *info)
{
	const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
	struct trace_sleds_table table;

	if (!trace_sleds_table_open(path, &table))
		return;
	write_calls(info, &table);
	trace_sleds_table_close(&table);
}

/* From which image on they are looked at; NULL: that has come. */
static int look_from(struct dl_phdr_info *info, size_t size, void *first)
{
	const struct link_map **from = first;

	(void)size;
	if (*from != NULL &&
	    ((*from)->l_addr != info->dlpi_addr || (*from)->l_name != info->dlpi_name))
		return 0;
	*from = NULL;
	look_at_image(info);
	return 0;
}

void trace_sleds_look(const struct link_map *first)
{
	/* A filter may forbid it. */
	if (agent.may_call)
		dl_iterate_phdr(look_from, (void *)&first);
	else
		tell_missed();
}

void trace_sleds_begin(void)
{
	if (!is_begun) {
		trace_sleds_look(NULL);
		has_missed = !trace_linker_begin();
		is_begun = true;
	}
	/* A child of fork has its parent's code, and an area of its own. */
	if (has_missed)
		tell_missed();
}
