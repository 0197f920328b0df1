#include "attach/libc.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/peek.h"
#include "base/error.h"
#include "base/memory.h"
#include "target/elf_file.h"
#include "target/load_bias.h"
#include "target/maps.h"

#define ERRNO_CODE_BYTES 32
#define TLS_BYTES_MAX    8192
#define THREAD_BYTES_MAX 16384
#define CODE_COMPARED    64

static const uint8_t syscall_return[] = { 0x0f, 0x05, 0xc3 };
static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

ptrdiff_t attach_find_bytes(const uint8_t *text, size_t text_bytes, const void *bytes,
			    size_t count)
{
	const uint8_t *at = memmem(text, text_bytes, bytes, count);

	return at == NULL ? -1 : at - text;
}

uint64_t attach_errno_slot(const uint8_t *code, size_t bytes, uint64_t address)
{
	static const uint8_t end_of_branch[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t load[] = { 0x48, 0x8b, 0x05 };
	static const uint8_t add[] = { 0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0 };
	size_t at = 0;
	int32_t offset;

	if (bytes >= sizeof end_of_branch &&
	    memcmp(code, end_of_branch, sizeof end_of_branch) == 0)
		at = sizeof end_of_branch;
	const size_t next = at + sizeof load + sizeof offset;

	if (bytes < next + sizeof add || memcmp(code + at, load, sizeof load) != 0 ||
	    memcmp(code + next, add, sizeof add) != 0)
		return 0;
	memcpy(&offset, code + at + sizeof load, sizeof offset);
	return address + next + (uint64_t)(int64_t)offset;
}

/* A library that is being looked at. */
struct look {
	pid_t pid;
	struct elf_file elf;
	uint64_t bias;
	struct attach_libc *libc;
};

static uint64_t symbol_of(const struct look *look, const char *name)
{
	struct elf_file_symbol symbol;

	return elf_file_find(&look->elf, name, &symbol) ? symbol.address + look->bias : 0;
}

static bool find_functions(struct look *look)
{
	struct attach_libc *libc = look->libc;
	const struct {
		const char *name;
		uint64_t *place;
	} wanted[] = {
		{ "pthread_create", &libc->pthread_create },
		{ "pthread_detach", &libc->pthread_detach },
		{ "dlopen", &libc->dlopen },
		{ "dlsym", &libc->dlsym },
		{ "dlerror", &libc->dlerror },
		{ "munmap", &libc->munmap },
	};

	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		*wanted[i].place = symbol_of(look, wanted[i].name);
		if (*wanted[i].place == 0)
			return false;
	}
	return true;
}

/* What libc says of itself to debuggers (nptl_db): the size of a thread, and where its tid is. */
static bool find_thread_layout(struct look *look)
{
	const uint64_t size = symbol_of(look, "_thread_db_sizeof_pthread");
	const uint64_t tid = symbol_of(look, "_thread_db_pthread_tid");
	uint32_t bytes, field[3]; /* its bits, how many there are, its offset */

	if (size == 0 || tid == 0 || peek(look->pid, size, &bytes, sizeof bytes) < 0 ||
	    peek(look->pid, tid, field, sizeof field) < 0 || field[0] != 32 ||
	    bytes > THREAD_BYTES_MAX || field[2] + sizeof(uint32_t) > bytes)
		return false;
	look->libc->thread_bytes = bytes;
	look->libc->thread_tid_offset = field[2];
	return true;
}

/* In memory: addresses in it are relocated there. */
static bool read_tls_image(struct look *look, const Elf64_Phdr *segment)
{
	struct attach_libc *libc = look->libc;

	if (segment->p_memsz > TLS_BYTES_MAX || segment->p_filesz > segment->p_memsz)
		return false;
	libc->tls_bytes = segment->p_memsz;
	libc->tls_image_bytes = segment->p_filesz;
	libc->tls_image = xzalloc(TLS_BYTES_MAX);
	return peek(look->pid, look->bias + segment->p_vaddr, libc->tls_image,
		    segment->p_filesz) == 0;
}

/*
 * The linker does not say how far below the thread pointer it put a module's variables.  libc's
 * own code knows it of errno.
 */
static bool find_tls_offset(struct look *look)
{
	const uint64_t function = symbol_of(look, "__errno_location");
	struct elf_file_symbol variable;
	uint8_t code[ERRNO_CODE_BYTES];
	int64_t offset;

	if (function == 0 || !elf_file_find(&look->elf, "errno", &variable) ||
	    peek(look->pid, function, code, sizeof code) < 0)
		return false;
	const uint64_t slot = attach_errno_slot(code, sizeof code, function);

	if (slot == 0 || peek(look->pid, slot, &offset, sizeof offset) < 0)
		return false;
	look->libc->tls_offset = variable.address - (uint64_t)offset;
	return look->libc->tls_offset >= look->libc->tls_bytes &&
	       look->libc->tls_offset < TLS_BYTES_MAX;
}

static bool find_tls(struct look *look)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (!elf_file_read_file(&look->elf, 0, &header, sizeof header) ||
	    header.e_phentsize != sizeof segment)
		return false;
	for (unsigned i = 0; i < header.e_phnum; i++) {
		if (!elf_file_read_file(&look->elf, header.e_phoff + i * sizeof segment,
					&segment, sizeof segment))
			return false;
		if (segment.p_type == PT_TLS)
			return read_tls_image(look, &segment) && find_tls_offset(look);
	}
	return false;
}

static bool find_code(struct look *look, const struct mapping *code)
{
	const size_t bytes = code->end - code->start;
	CLEANUP(freep) uint8_t *text = xmalloc(bytes);

	if (peek(look->pid, code->start, text, bytes) < 0)
		return false;
	const ptrdiff_t gadget =
		attach_find_bytes(text, bytes, syscall_return, sizeof syscall_return);
	const ptrdiff_t restore = attach_find_bytes(text, bytes, restorer, sizeof restorer);

	look->libc->syscall_return = code->start + (uint64_t)gadget;
	look->libc->restorer = code->start + (uint64_t)restore;
	return gadget >= 0 && restore >= 0;
}

/* The file may have been replaced since it was mapped. */
static bool is_what_is_mapped(const struct look *look)
{
	const uint64_t address = look->libc->pthread_create;
	uint8_t there[CODE_COMPARED], file[CODE_COMPARED];

	return peek(look->pid, address, there, sizeof there) == 0 &&
	       elf_file_read(&look->elf, address - look->bias, file, sizeof file) &&
	       memcmp(there, file, sizeof file) == 0;
}

static int look_at(struct look *look, const struct mapping *code, struct error *err)
{
	if (!find_functions(look) || !find_thread_layout(look))
		return error_set(err, -ENOTSUP, "its C library is older than glibc 2.34 (%s)",
				 code->path);
	if (!is_what_is_mapped(look))
		return error_set(err, -ENOTSUP,
				 "its C library was replaced since it began (%s)", code->path);
	if (!find_tls(look) || !find_code(look, code))
		return error_set(err, -ENOTSUP, "its C library is built in an unknown way (%s)",
				 code->path);
	return 0;
}

static bool is_libc(const char *path)
{
	const char *name = strrchr(path, '/');

	return name != NULL &&
	       (strcmp(name, "/libc.so.6") == 0 || strncmp(name, "/libc-2.", 8) == 0);
}

static const struct mapping *find_mapping(const struct maps *maps, struct attach_libc *libc)
{
	const struct mapping *code = NULL;

	for (size_t i = 0; i < maps_count(maps); i++) {
		const struct mapping *mapping = maps_at(maps, i);

		if (!is_libc(mapping->path) || (code != NULL && code->inode != mapping->inode))
			continue;
		if (libc->start == 0)
			libc->start = mapping->start;
		libc->end = mapping->end;
		if (mapping->is_executable && code == NULL)
			code = mapping;
	}
	return code;
}

int attach_libc_find(pid_t pid, const struct maps *maps, struct attach_libc *out_libc,
		     struct error *err)
{
	struct look look = { .pid = pid, .libc = out_libc };
	struct load_bias bias;

	*out_libc = (struct attach_libc){ 0 };
	const struct mapping *code = find_mapping(maps, out_libc);

	if (code == NULL)
		return error_set(err, -ENOTSUP,
				 "it has no GNU C library (statically linked, or musl)");
	CLEANUP(freep) char *inside = xasprintf("/proc/%d/root%s", (int)pid, code->path);
	/* What is below a root that chroot() set is listed as we see it. */
	const char *path = access(inside, R_OK) == 0 ? inside : code->path;

	load_bias_read(path, &bias);
	if (!load_bias_of(&bias, code->start, code->file_offset, &look.bias) ||
	    elf_file_open(path, &look.elf, NULL) < 0)
		return error_set(err, -ENOTSUP, "its C library cannot be read (%s)", path);
	const int rc = look_at(&look, code, err);

	elf_file_close(&look.elf);
	if (rc < 0)
		attach_libc_done(out_libc);
	return rc;
}

void attach_libc_done(struct attach_libc *libc)
{
	free(libc->tls_image);
	libc->tls_image = NULL;
}
