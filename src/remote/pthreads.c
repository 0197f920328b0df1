#include "remote/pthreads.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "remote/memory.h"
#include "remote/process.h"
#include "target/elf_file.h"

/*
 * struct pthread.tid: after tcbhead_t, whose size is fixed by the ABI (x86-64: 704 bytes,
 * sysdeps/x86_64/nptl/tls.h; aarch64: struct pthread's own 24 pointers), and a list_t.
 */
#if defined(__x86_64__)
#define TID_OFFSET 720U
#else
#define TID_OFFSET 208U
#endif
#define MOST_THREADS 65536U

/* How libthread_db describes a field: size in bits, count, offset (nptl_db/structs.def). */
struct field {
	uint32_t bits, count, offset;
};

struct offsets {
	uint32_t used, user; /* of _rtld_global */
	uint32_t link;       /* of struct pthread */
};

static bool read_field(const struct elf_file *elf, const char *name, uint32_t *out_offset)
{
	struct elf_file_symbol symbol;
	struct field field;

	if (!elf_file_find(elf, name, &symbol) ||
	    !elf_file_read(elf, symbol.address, &field, sizeof field))
		return false;
	*out_offset = field.offset;
	return true;
}

static bool read_offsets(const char *path, struct offsets *out_offsets)
{
	struct elf_file elf;
	bool found;

	if (elf_file_open(path, &elf, NULL) < 0)
		return false;
	found = read_field(&elf, "_thread_db_rtld_global__dl_stack_used", &out_offsets->used) &&
		read_field(&elf, "_thread_db_rtld_global__dl_stack_user", &out_offsets->user) &&
		read_field(&elf, "_thread_db_pthread_list", &out_offsets->link);
	elf_file_close(&elf);
	return found;
}

pid_t pthreads_tid_at(struct remote *remote, uint64_t pointer)
{
	uint64_t self;
	int32_t tid;

	/* tcbhead_t.self holds its own address (x86-64). */
#if defined(__x86_64__)
	if (mem_read(&remote->mem, &self, sizeof self, pointer + 16) < 0 || self != pointer)
		return 0;
#else
	(void)self;
#endif
	return mem_read(&remote->mem, &tid, sizeof tid, pointer + TID_OFFSET) < 0 ? 0 : tid;
}

pid_t pthreads_tid_of_word(struct remote *remote, uint64_t address)
{
	/* Only on x86-64 can a struct pthread be recognised by its contents. */
#if defined(__x86_64__)
	return pthreads_tid_at(remote, address - TID_OFFSET);
#else
	(void)remote;
	(void)address;
	return 0;
#endif
}

static void read_list(struct remote *remote, uint64_t head, uint32_t link,
		      struct pthread_places *places)
{
	uint64_t node;

	if (mem_read(&remote->mem, &node, sizeof node, head) < 0)
		return;
	for (uint32_t i = 0; i < MOST_THREADS && node != head && node != 0; i++) {
		const uint64_t pointer = node - link;
		const pid_t tid = pthreads_tid_at(remote, pointer);

		if (tid > 0) {
			places->places = array_grow(places->places, places->count,
						    &places->capacity, sizeof *places->places);
			places->places[places->count++] =
				(struct pthread_place){ tid, pointer };
		}
		if (mem_read(&remote->mem, &node, sizeof node, node) < 0)
			return;
	}
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static struct pthread_lists find_lists(const struct remote *remote)
{
	struct offsets offsets = { 0 };
	uint64_t global = 0;
	bool has_offsets = false;

	for (size_t i = 0; i < remote->images.count && !(has_offsets && global); i++) {
		const struct remote_image *image = &remote->images.images[i];
		const char *name = name_of(image->path);
		const bool is_loader = strncmp(name, "ld-", 3) == 0;

		if (!is_loader && strncmp(name, "libc.so", 7) != 0 &&
		    strncmp(name, "libc-", 5) != 0)
			continue;
		CLEANUP(freep) char *path = remote_image_path(remote, image);

		if (is_loader)
			global = remote_symbol_at(path, image->bias, "_rtld_global");
		else
			has_offsets = read_offsets(path, &offsets);
	}
	return (struct pthread_lists){ .is_known = true,
				       .is_there = has_offsets && global != 0,
				       .used = global + offsets.used,
				       .user = global + offsets.user,
				       .link = offsets.link };
}

void pthreads_read(struct remote *remote, struct pthread_places *out_places)
{
	const struct pthread_lists *lists = &remote->pthread_lists;

	*out_places = (struct pthread_places){ 0 };
	if (!lists->is_known)
		remote->pthread_lists = find_lists(remote);
	if (!lists->is_there)
		return;
	read_list(remote, lists->used, lists->link, out_places);
	read_list(remote, lists->user, lists->link, out_places);
}

void pthreads_done(struct pthread_places *places)
{
	free(places->places);
	*places = (struct pthread_places){ 0 };
}

uint64_t pthreads_pointer_of(const struct pthread_places *places, pid_t inner_tid)
{
	for (size_t i = 0; i < places->count; i++) {
		if (places->places[i].tid == inner_tid)
			return places->places[i].pointer;
	}
	return 0;
}
