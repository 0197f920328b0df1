#include "attach/libc.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "attach/library.h"
#include "attach/peek.h"
#include "base/error.h"
#include "base/memory.h"
#include "target/maps.h"

#define KEY_CODE_BYTES   64
#define KEYS_MAX         1024 /* PTHREAD_KEYS_MAX */
#define THREAD_BYTES_MAX 16384

static const char *const libc_names[] = { "libc.so.6", "libc-2.", NULL };
static const char *const linker_names[] = { "ld-linux-x86-64.so.2", "ld-2.", NULL };
static const uint8_t syscall_return[] = { 0x0f, 0x05, 0xc3 };
static const uint8_t restorer[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

ptrdiff_t attach_find_bytes(const uint8_t *text, size_t text_bytes, const void *bytes,
			    size_t count)
{
	const uint8_t *at = memmem(text, text_bytes, bytes, count);

	return at == NULL ? -1 : at - text;
}

/* The address that a lea at `at` loads (48 or 4c 8d /r, a 32-bit offset from its end), or 0. */
static uint64_t loaded_address(const uint8_t *code, size_t at, size_t bytes, uint64_t code_at)
{
	const size_t end = at + 3 + sizeof(int32_t);
	int32_t offset;

	if (end > bytes || (code[at] & 0xfb) != 0x48 || code[at + 1] != 0x8d ||
	    (code[at + 2] & 0xc7) != 0x05)
		return 0;
	memcpy(&offset, code + at + 3, sizeof offset);
	return code_at + end + (uint64_t)(int64_t)offset;
}

uint64_t attach_common_address(const uint8_t *one, uint64_t one_at, const uint8_t *other,
			       uint64_t other_at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		const uint64_t address = loaded_address(one, i, bytes, one_at);

		for (size_t j = 0; address != 0 && j < bytes; j++)
			if (loaded_address(other, j, bytes, other_at) == address)
				return address;
	}
	return 0;
}

static bool find_functions(const struct library *file, struct attach_libc *libc)
{
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
		{ "__call_tls_dtors", &libc->call_tls_dtors },
		{ "pthread_getspecific", &libc->getspecific },
		{ "pthread_setspecific", &libc->setspecific },
	};

	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		*wanted[i].place = library_symbol(file, wanted[i].name);
		if (*wanted[i].place == 0)
			return false;
	}
	return true;
}

/* Reads what libc exports to debuggers (nptl_db): a thread's size, and its tid's offset. */
static bool find_thread_layout(const struct library *file, struct attach_libc *libc)
{
	const uint64_t size = library_symbol(file, "_thread_db_sizeof_pthread");
	const uint64_t tid = library_symbol(file, "_thread_db_pthread_tid");
	uint32_t bytes, field[3]; /* size in bits, count, offset */

	if (size == 0 || tid == 0 || peek(file->pid, size, &bytes, sizeof bytes) < 0 ||
	    peek(file->pid, tid, field, sizeof field) < 0 || field[0] != 32 ||
	    bytes > THREAD_BYTES_MAX || field[2] + sizeof(uint32_t) > bytes)
		return false;
	libc->thread_bytes = bytes;
	libc->thread_tid_offset = field[2];
	return true;
}

/*
 * Whether this may be libc's array of keys: a used key has an odd sequence number, and a
 * destructor or 0.
 */
static bool are_keys(const struct library *file, const struct maps *maps, uint64_t address)
{
	const struct mapping *there = maps_find(maps, address);
	uint64_t keys[KEYS_MAX][2];

	/* They are in .bss, behind the file's own mappings. */
	if (address % sizeof(uint64_t) != 0 || address < file->start || there == NULL ||
	    !there->is_writable || peek(file->pid, address, keys, sizeof keys) < 0)
		return false;
	for (int i = 0; i < KEYS_MAX; i++) {
		const struct mapping *code = maps_find(maps, keys[i][1]);
		const bool is_used = keys[i][0] & 1;

		if (is_used && keys[i][1] != 0 && (code == NULL || !code->is_executable))
			return false;
	}
	return true;
}

/* No symbol has the keys' address: it is the one that both of these functions load. */
static bool find_keys(const struct library *file, const struct maps *maps,
		      struct attach_libc *libc)
{
	const uint64_t create = library_symbol(file, "pthread_key_create");
	const uint64_t delete = library_symbol(file, "pthread_key_delete");
	uint8_t codes[2][KEY_CODE_BYTES];

	if (create == 0 || delete == 0 ||
	    peek(file->pid, create, codes[0], sizeof codes[0]) < 0 ||
	    peek(file->pid, delete, codes[1], sizeof codes[1]) < 0)
		return false;
	libc->keys = attach_common_address(codes[0], create, codes[1], delete, KEY_CODE_BYTES);
	return libc->keys != 0 && are_keys(file, maps, libc->keys);
}

static bool find_code(const struct library *file, struct attach_libc *libc)
{
	const struct mapping *code = file->code;
	const size_t bytes = code->end - code->start;
	CLEANUP(freep) uint8_t *text = xmalloc(bytes);

	if (peek(file->pid, code->start, text, bytes) < 0)
		return false;
	const ptrdiff_t gadget =
		attach_find_bytes(text, bytes, syscall_return, sizeof syscall_return);
	const ptrdiff_t restore = attach_find_bytes(text, bytes, restorer, sizeof restorer);

	libc->syscall_return = code->start + (uint64_t)gadget;
	libc->restorer = code->start + (uint64_t)restore;
	return gadget >= 0 && restore >= 0;
}

static int look_at(const struct library *file, const struct maps *maps,
		   struct attach_libc *libc, struct error *err)
{
	const char *path = file->code->path;

	if (!find_functions(file, libc) || !find_thread_layout(file, libc))
		return error_set(err, -ENOTSUP, "its C library is older than glibc 2.34 (%s)",
				 path);
	if (!library_is_what_is_mapped(file, libc->pthread_create))
		return error_set(err, -ENOTSUP,
				 "its C library was replaced since it began (%s)", path);
	if (!find_keys(file, maps, libc) || !find_code(file, libc))
		return error_set(err, -ENOTSUP, "its C library is built in an unknown way (%s)",
				 path);
	libc->start = file->start;
	libc->end = file->end;
	return 0;
}

/* From 2.35 on libc registers its threads' struct rseq with the kernel. */
static void find_rseq(const struct library *linker, struct attach_libc *libc)
{
	const uint64_t place = library_symbol(linker, "__rseq_offset");

	libc->has_rseq = place != 0 && peek(linker->pid, place, &libc->rseq_offset,
					    sizeof libc->rseq_offset) == 0;
}

static int look_at_linker(const struct library *file, const struct maps *maps,
			  struct attach_libc *libc, struct error *err)
{
	struct library linker;
	int rc = library_open(file->pid, maps, linker_names, &linker, err);

	if (rc == -ENOENT)
		return error_set(err, -ENOTSUP, "its dynamic linker is of an unknown kind");
	if (rc < 0)
		return rc;
	const uint64_t function = library_symbol(&linker, "__tls_get_addr");

	if (function == 0 || !library_is_what_is_mapped(&linker, function)) {
		rc = error_set(err, -ENOTSUP,
			       "its dynamic linker was replaced since it began (%s)",
			       linker.code->path);
	} else {
		find_rseq(&linker, libc);
		rc = tls_blocks_read(file, &linker, maps, &libc->tls, err);
	}
	library_close(&linker);
	return rc;
}

int attach_libc_find(pid_t pid, const struct maps *maps, struct attach_libc *out_libc,
		     struct error *err)
{
	struct library file;

	*out_libc = (struct attach_libc){ 0 };
	int rc = library_open(pid, maps, libc_names, &file, err);

	if (rc == -ENOENT)
		return error_set(err, -ENOTSUP,
				 "it has no GNU C library (statically linked, or musl)");
	if (rc < 0)
		return rc;
	rc = look_at(&file, maps, out_libc, err);
	if (rc == 0)
		rc = look_at_linker(&file, maps, out_libc, err);
	library_close(&file);
	if (rc < 0)
		attach_libc_done(out_libc);
	return rc;
}

void attach_libc_done(struct attach_libc *libc)
{
	tls_blocks_free(&libc->tls);
}
