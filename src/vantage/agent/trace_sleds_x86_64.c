/*
 * The table is a section, __patchable_function_entries: words that the dynamic linker has
 * relocated by now.  Sections are in the file only, so it is asked.
 *
 * An entry says where a sled begins, and not where its function does: of N bytes, M may stand
 * before it (-fpatchable-function-entry=N,M), and nobody executes those.  Where functions begin
 * is in the unwind table's index.  A call takes five bytes, and reaches two gibibytes; so each
 * image has a page near it with a jump to us.
 */
#include "vantage/agent/trace_sleds.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "vantage/agent/agent.h"
#include "vantage/agent/arch.h"
#include "vantage/agent/trace.h"
#include "vantage/agent/trace_returns.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* since Linux 4.17 */
#endif

#define CALL_BYTES 5U
/* Before a function, at most. */
#define BEFORE_MAX 64U
#define NEAR_STEP  (64UL << 10)
#define NEAR_TRIES 8192U /* half a gibibyte */

/* glibc 2.35 and later. */
extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

/* An image with sleds, at work. */
struct image {
	u64 door; /* the jump to us; 0: none */
	/* Of the unwind table's index: sorted; distances from its header. */
	const s32 *index;
	u64 index_base;
	u32 index_count;
};

static bool is_done;

static void count_refusals(u64 count)
{
	struct trace_area *area = trace_area_of_process();

	if (area != NULL)
		__atomic_fetch_add(&area->sleds_left, count, __ATOMIC_RELAXED);
}

/* A page below the image with a jump to us, as near as there is room. */
static u64 make_door(u64 start)
{
	static const u8 jump[] = { 0xff, 0x25, 0, 0, 0, 0 }; /* jmp *0(%rip) */
	const u64 target = (u64)trace_native_sled;

	for (u32 i = 1; i < NEAR_TRIES && start > i * NEAR_STEP; i++) {
		const u64 wanted = (start & ~(MEMORY_PAGE - 1)) - i * NEAR_STEP;
		const long got = arch_syscall6(
			SYS_mmap, (long)wanted, MEMORY_PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (got < 0)
			continue;
		if ((u64)got == wanted) {
			__builtin_memcpy((void *)wanted, jump, sizeof jump);
			__builtin_memcpy((void *)(wanted + sizeof jump), &target,
					 sizeof target);
			if (arch_syscall4(SYS_mprotect, got, MEMORY_PAGE, PROT_READ | PROT_EXEC,
					  0) == 0)
				return wanted;
		}
		arch_syscall4(SYS_munmap, got, MEMORY_PAGE, 0, 0);
	}
	return 0;
}

/*
 * .eh_frame_hdr as linkers make it (LSB 5.0, 10.6.2): its own place as 32 bits, then the count.
 */
static bool find_index(struct image *image, u64 address)
{
	static const u8 usual[] = { 1, 0x1b, 0x03, 0x3b };
	struct dl_find_object found;

	if (_dl_find_object == NULL || _dl_find_object((void *)address, &found) != 0 ||
	    found.dlfo_eh_frame == NULL ||
	    __builtin_memcmp(found.dlfo_eh_frame, usual, sizeof usual) != 0)
		return false;
	const u8 *header = found.dlfo_eh_frame;

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

/*
 * The length of an instruction that does nothing, as assemblers write them (nop, and nopw and
 * nopl with operands and prefixes); 0: it is another.
 */
static u32 nop_bytes(const u8 *code)
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
		bytes = nop_bytes((const u8 *)(address + count));
		count += bytes;
	}
	return count;
}

static bool is_landing(u64 address)
{
	static const u8 landing[] = { 0xf3, 0x0f, 0x1e, 0xfa }; /* endbr64 */

	return __builtin_memcmp((const void *)address, landing, sizeof landing) == 0;
}

/* Where in a function the call goes, of an entry of the table; 0: there is no room. */
static u64 find_place(const struct image *image, u64 entry)
{
	u64 begin = find_begin(image, entry - 4);

	/* Behind its first instruction, which is there for who jumps to it. */
	if (begin == entry - 4 && is_landing(begin))
		return nops_at(entry, CALL_BYTES) >= CALL_BYTES ? entry : 0;
	begin = find_begin(image, entry);
	if (begin == 0 || begin - entry > BEFORE_MAX ||
	    nops_at(entry, (u32)(begin - entry)) < begin - entry)
		return 0;
	if (is_landing(begin))
		begin += 4;
	return nops_at(begin, CALL_BYTES) >= CALL_BYTES ? begin : 0;
}

static bool write_call(const struct image *image, u64 entry)
{
	const u64 place = find_place(image, entry);
	const s64 distance = (s64)(image->door - (place + CALL_BYTES));
	u8 call[CALL_BYTES] = { 0xe8 };

	if (place == 0 || distance != (s32)distance)
		return false;
	const u32 bytes = nops_at(place, CALL_BYTES);

	__builtin_memcpy(call + 1, &(s32){ (s32)distance }, sizeof(s32));
	/* What is left of the last one is no instruction. */
	for (u32 i = CALL_BYTES; i < bytes; i++)
		((u8 *)place)[i] = 0x90;
	__builtin_memcpy((void *)place, call, sizeof call);
	return true;
}

/* The image's executable segment that holds an address; false: none, or it is odd. */
static bool find_text(const struct dl_phdr_info *info, u64 address, u64 *out_low, u64 *out_high)
{
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const u64 low = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= low &&
		    address - low < segment->p_filesz) {
			*out_low = low & ~(MEMORY_PAGE - 1);
			*out_high =
				(low + segment->p_memsz + MEMORY_PAGE - 1) & ~(MEMORY_PAGE - 1);
			return (segment->p_flags & (PF_R | PF_W | PF_X)) == (PF_R | PF_X);
		}
	}
	return false;
}

/*
 * Executable meanwhile, too, though nobody executes it: where a policy lets nobody execute what
 * was written (SELinux' execmod), that is refused here, and not when it is too late.
 */
static void write_calls(const struct dl_phdr_info *info, const u64 *entries, u64 count)
{
	struct image image = { 0 };
	u64 low, high, written = 0;

	if (!find_text(info, entries[0], &low, &high) || !find_index(&image, entries[0]) ||
	    (image.door = make_door(low)) == 0 ||
	    arch_syscall4(SYS_mprotect, (long)low, (long)(high - low),
			  PROT_READ | PROT_WRITE | PROT_EXEC, 0) != 0) {
		count_refusals(count);
		return;
	}
	for (u64 i = 0; i < count; i++) {
		/* In sections of their own: they are elsewhere. */
		if (entries[i] >= low + 4 && entries[i] < high - BEFORE_MAX)
			written += write_call(&image, entries[i]);
	}
	arch_syscall4(SYS_mprotect, (long)low, (long)(high - low), PROT_READ | PROT_EXEC, 0);
	count_refusals(count - written);
}

/* A file that is mapped for a moment. */
struct file {
	const u8 *bytes;
	u64 length;
};

static bool map_file(const char *path, struct file *out)
{
	const long fd =
		arch_syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return false;
	const long length = arch_syscall4(SYS_lseek, fd, 0, SEEK_END, 0);
	const long place =
		length < (long)sizeof(ElfW(Ehdr))
			? -1
			: arch_syscall6(SYS_mmap, 0, length, PROT_READ, MAP_PRIVATE, fd, 0);

	arch_syscall4(SYS_close, fd, 0, 0, 0);
	*out = (struct file){ .bytes = (const u8 *)place, .length = (u64)length };
	return place > 0;
}

static bool is_name(const struct file *file, u64 at)
{
	static const char name[] = "__patchable_function_entries";

	return at < file->length && file->length - at >= sizeof name &&
	       __builtin_memcmp(file->bytes + at, name, sizeof name) == 0;
}

/* The table's section; NULL: there is none. */
static const ElfW(Shdr) * find_section(const struct file *file)
{
	const ElfW(Ehdr) *header = (const void *)file->bytes;
	const u64 sections_bytes = (u64)header->e_shnum * sizeof(ElfW(Shdr));

	if (__builtin_memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_shentsize != sizeof(ElfW(Shdr)) || header->e_shoff % sizeof(u64) != 0 ||
	    header->e_shoff > file->length || file->length - header->e_shoff < sections_bytes ||
	    header->e_shstrndx >= header->e_shnum)
		return NULL;
	const ElfW(Shdr) *sections = (const void *)(file->bytes + header->e_shoff);
	const u64 names = sections[header->e_shstrndx].sh_offset;

	for (u32 i = 0; i < header->e_shnum; i++) {
		if ((sections[i].sh_flags & SHF_ALLOC) && names < file->length &&
		    is_name(file, names + sections[i].sh_name))
			return &sections[i];
	}
	return NULL;
}

/* Whether the image has so much there: it may be of another file than lies there now. */
static bool has_words(const struct dl_phdr_info *info, u64 address, u64 bytes)
{
	for (u32 i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
		    address >= segment->p_vaddr && bytes <= segment->p_filesz &&
		    address - segment->p_vaddr <= segment->p_filesz - bytes)
			return true;
	}
	return false;
}

static int look_at_image(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
	struct file file;

	(void)size;
	(void)unused;
	if (!map_file(path, &file))
		return 0;
	const ElfW(Shdr) *section = find_section(&file);

	if (section != NULL && section->sh_size >= sizeof(u64) &&
	    section->sh_addr % sizeof(u64) == 0 &&
	    has_words(info, section->sh_addr, section->sh_size))
		write_calls(info, (const u64 *)(info->dlpi_addr + section->sh_addr),
			    section->sh_size / sizeof(u64));
	arch_syscall4(SYS_munmap, (long)file.bytes, (long)file.length, 0, 0);
	return 0;
}

void trace_sleds_begin(void)
{
	if (is_done)
		return;
	is_done = true;
	dl_iterate_phdr(look_at_image, NULL);
}
