#include "remote/core_file.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/regular_file.h"
#include "base/read_at.h"
#include "remote/core_notes.h"
#include "remote/memory.h"

/* A process has 65,530 mappings unless vm.max_map_count was raised. */
#define MOST_SEGMENTS 1048576U
/* Enough for the notes of a hundred thousand threads; longer ones are cut off there. */
#define MOST_NOTES (128U << 20)

#if defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_X86_64
#endif

static const char *machine_name(unsigned int machine)
{
	static const struct {
		unsigned int machine;
		const char *name;
	} names[] = {
		{ EM_386, "i386" },        { EM_X86_64, "x86-64" }, { EM_ARM, "32-bit ARM" },
		{ EM_AARCH64, "aarch64" }, { EM_RISCV, "RISC-V" },  { EM_PPC64, "ppc64" },
		{ EM_S390, "s390x" },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	return NULL;
}

/* The program that unpacks a file with this magic number; NULL: unknown. */
static const char *unpacker_of(const uint8_t magic[4])
{
	if (memcmp(magic, "\x28\xb5\x2f\xfd", 4) == 0)
		return "zstd -d";
	if (memcmp(magic, "\x04\x22\x4d\x18", 4) == 0)
		return "lz4 -d";
	if (memcmp(magic,
		   "\xfd"
		   "7zX",
		   4) == 0)
		return "xz -dk";
	return memcmp(magic, "\x1f\x8b", 2) == 0 ? "gzip -dk" : NULL;
}

static int refuse_machine(const char *path, const Elf64_Ehdr *head, struct error *err)
{
	const char *name = machine_name(head->e_machine);

	if (name)
		return error_set(err, -EINVAL,
				 "%s: a core of a program for %s, which fathom reads on such "
				 "a machine only",
				 path, name);
	return error_set(err, -EINVAL, "%s: a core of a program for machine %u, unknown here",
			 path, (unsigned)head->e_machine);
}

static int check_head(const struct core_file *core, const char *path, Elf64_Ehdr *out_head,
		      struct error *err)
{
	const uint8_t *magic = out_head->e_ident;
	const bool is_whole = read_at(core->fd, out_head, sizeof *out_head, 0);

	if (!is_whole && !read_at(core->fd, out_head, SELFMAG, 0))
		return error_set(err, -ENOEXEC, "%s: not a core file", path);
	if (unpacker_of(magic))
		return error_set(err, -ENOEXEC, "%s: compressed: unpack it with '%s' first",
				 path, unpacker_of(magic));
	if (memcmp(magic, ELFMAG, SELFMAG) != 0)
		return error_set(err, -ENOEXEC, "%s: not a core file", path);
	if (!is_whole)
		return error_set(err, -EBADMSG, "%s: cut short within its first header", path);
	if (magic[EI_DATA] != ELFDATA2LSB || magic[EI_CLASS] != ELFCLASS64)
		return error_set(err, -EINVAL,
				 "%s: of a 32-bit or big-endian program, whose cores fathom "
				 "does not read",
				 path);
	if (out_head->e_type != ET_CORE)
		return error_set(err, -ENOEXEC,
				 "%s: a program or library, not a core file: fathom dump "
				 "--core CORE [PROGRAM]",
				 path);
	if (out_head->e_machine != OUR_MACHINE)
		return refuse_machine(path, out_head, err);
	return 0;
}

/* The number of program headers; above 65,534 it is in the first section header (PN_XNUM). */
static uint64_t count_segments(const struct core_file *core, const Elf64_Ehdr *head)
{
	Elf64_Shdr section;

	if (head->e_phnum != PN_XNUM)
		return head->e_phnum;
	return read_at(core->fd, &section, sizeof section, head->e_shoff) ? section.sh_info : 0;
}

static void add_segment(struct core_file *core, const Elf64_Phdr *header)
{
	uint64_t end, claimed;

	if (__builtin_add_overflow(header->p_vaddr, header->p_memsz, &end) ||
	    __builtin_add_overflow(header->p_offset, header->p_filesz, &claimed) ||
	    header->p_memsz == 0)
		return;
	core->segments[core->segment_count++] = (struct core_segment){
		.start = header->p_vaddr,
		.end = end,
		.offset = header->p_offset,
		.file_size =
			header->p_filesz < header->p_memsz ? header->p_filesz : header->p_memsz,
		.is_readable = header->p_flags & PF_R,
		.is_writable = header->p_flags & PF_W,
		.is_executable = header->p_flags & PF_X,
	};
	if (claimed > core->claimed)
		core->claimed = claimed;
}

static void read_notes(struct core_file *core, const Elf64_Phdr *header)
{
	const uint64_t there =
		header->p_offset < core->size ? core->size - header->p_offset : 0;
	const uint64_t len = header->p_filesz < there ? header->p_filesz : there;
	const size_t size = len < MOST_NOTES ? (size_t)len : MOST_NOTES;
	CLEANUP(freep) void *notes = xmalloc(size + 1);

	if (read_at(core->fd, notes, size, header->p_offset))
		core_notes_read(core, notes, size);
}

static int compare_segments(const void *a, const void *b)
{
	const struct core_segment *first = a, *second = b;

	return first->start < second->start ? -1 : first->start > second->start;
}

static int compare_mappings(const void *a, const void *b)
{
	const struct core_mapping *first = a, *second = b;

	return first->start < second->start ? -1 : first->start > second->start;
}

static int read_segments(struct core_file *core, const char *path, const Elf64_Ehdr *head,
			 struct error *err)
{
	const uint64_t count = count_segments(core, head);
	const uint64_t at = head->e_phoff;
	Elf64_Phdr header;

	if (head->e_phentsize != sizeof header || count > MOST_SEGMENTS || at > core->size ||
	    count > (core->size - at) / sizeof header)
		return error_set(err, -EBADMSG, "%s: cut short within its headers", path);
	core->segments = xreallocarray(NULL, count + 1, sizeof *core->segments);
	for (uint64_t i = 0; i < count; i++) {
		if (!read_at(core->fd, &header, sizeof header, at + i * sizeof header))
			return error_errno(err, -EIO, "%s", path);
		if (header.p_type == PT_LOAD)
			add_segment(core, &header);
		else if (header.p_type == PT_NOTE)
			read_notes(core, &header);
	}
	if (core->segment_count > 0)
		qsort(core->segments, core->segment_count, sizeof *core->segments,
		      compare_segments);
	if (core->mapping_count > 0)
		qsort(core->mappings, core->mapping_count, sizeof *core->mappings,
		      compare_mappings);
	return 0;
}

static int read_core(struct core_file *core, const char *path, struct error *err)
{
	struct stat status;
	Elf64_Ehdr head;
	int rc;

	core->fd = regular_file_open(path, &status);
	if (core->fd == -EINVAL)
		return error_set(err, -EINVAL, "%s: not a regular file", path);
	if (core->fd < 0)
		return error_errno(err, core->fd, "%s", path);
	core->size = (uint64_t)status.st_size;
	if ((rc = check_head(core, path, &head, err)) < 0 ||
	    (rc = read_segments(core, path, &head, err)) < 0)
		return rc;
	if (core->thread_count == 0)
		return error_set(err, -EBADMSG,
				 "%s: it has no registers of any thread: cut short, or no "
				 "core of a process",
				 path);
	if (core->mapping_count == 0)
		return error_set(err, -EBADMSG,
				 "%s: it does not say which files were mapped (no NT_FILE "
				 "note): cut short, or of a kernel before 3.7",
				 path);
	return 0;
}

int core_file_open(const char *path, struct core_file *out_core, struct error *err)
{
	int rc;

	*out_core = (struct core_file){ .fd = -1 };
	rc = read_core(out_core, path, err);
	if (rc < 0)
		core_file_close(out_core);
	return rc;
}

void core_file_close(struct core_file *core)
{
	closep(&core->fd);
	free(core->segments);
	free(core->mappings);
	free(core->threads);
	intern_done(&core->paths);
	*core = (struct core_file){ .fd = -1 };
}

const struct core_segment *core_file_segment(const struct core_file *core, uint64_t address)
{
	size_t low = 0, high = core->segment_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (core->segments[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < core->segments[low - 1].end ? &core->segments[low - 1]
								: NULL;
}

const struct core_mapping *core_file_mapping(const struct core_file *core, uint64_t address)
{
	size_t low = 0, high = core->mapping_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (core->mappings[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < core->mappings[low - 1].end ? &core->mappings[low - 1]
								: NULL;
}

bool core_file_read_page(const struct core_file *core, uint64_t address, void *page)
{
	const struct core_segment *segment = core_file_segment(core, address);
	uint64_t inside, len;

	if (!segment || (inside = address - segment->start) >= segment->file_size)
		return false;
	len = segment->file_size - inside;
	if (len < MEMORY_PAGE && segment->end - address > len)
		return false;
	memset(page, 0, MEMORY_PAGE);
	return read_at(core->fd, page, len < MEMORY_PAGE ? (size_t)len : MEMORY_PAGE,
		       segment->offset + inside);
}
