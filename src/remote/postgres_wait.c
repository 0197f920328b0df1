#include "remote/postgres_wait.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "remote/process.h"
#include "target/elf_file.h"
#include "target/maps.h"

/* Classes of events: PG_WAIT_LWLOCK, PG_WAIT_LOCK, … */
enum { CLASS_LWLOCK = 1, CLASS_LOCK = 3, CLASS_COUNT = 11 };
/*
 * Upper bounds: there are a dozen kinds of heavyweight locks, and some seventy of lightweight
 * ones.
 */
#define LOCKS_MOST    64U
#define TRANCHES_MOST 256U
#define NAME_MOST     48U
/*
 * Bytes of relocated constants (.data.rel.ro) to search: PostgreSQL 15 has a third of a
 * megabyte.
 */
#define SCAN_MOST (4U << 20)

static const struct {
	const char *name; /* NULL: the system call's label says more */
	enum wait_state state;
} classes[CLASS_COUNT] = {
	[CLASS_LWLOCK] = { "LWLock", WAIT_STATE_LOCK },
	[CLASS_LOCK] = { "Lock", WAIT_STATE_LOCK },
	[4] = { "BufferPin", WAIT_STATE_LOCK },
	[5] = { "Activity", WAIT_STATE_IO },
	[6] = { "Client", WAIT_STATE_IO },
	[8] = { "IPC", WAIT_STATE_LOCK },
	[9] = { "Timeout", WAIT_STATE_SLEEP },
};

static uint64_t word_at(struct remote *remote, uint64_t address)
{
	uint64_t word;

	return mem_read(&remote->mem, &word, sizeof word, address) < 0 ? 0 : word;
}

static bool is_called_postgres(const struct remote_image *image)
{
	const char *slash = strrchr(image->path, '/');

	return slash && strcmp(slash + 1, "postgres") == 0;
}

static void find_symbols(struct postgres *postgres, const char *path, uint64_t bias)
{
	struct elf_file_symbol symbol;
	struct elf_file elf;

	if (elf_file_open(path, &elf, NULL) < 0)
		return;
	if (elf_file_find(&elf, "my_wait_event_info", &symbol)) {
		postgres->event = symbol.address + bias;
		postgres->is_postgres = true;
	}
	if (elf_file_find(&elf, "LockTagTypeNames", &symbol))
		postgres->lock_names = symbol.address + bias;
	if (elf_file_find(&elf, "IndividualLWLockNames", &symbol)) {
		postgres->first_names = symbol.address + bias;
		postgres->first_count = (uint32_t)(symbol.size / sizeof(uint64_t));
	}
	elf_file_close(&elf);
}

static struct postgres *postgres_of(struct remote *remote)
{
	struct postgres *postgres = &remote->postgres;

	if (postgres->is_known)
		return postgres->is_postgres ? postgres : NULL;
	postgres->is_known = true;
	for (size_t i = 0; i < remote->images.count; i++) {
		const struct remote_image *image = &remote->images.images[i];

		if (!image->has_code || !is_called_postgres(image))
			continue;
		CLEANUP(freep) char *path = remote_image_path(remote, image);

		find_symbols(postgres, path, image->bias);
		break;
	}
	return postgres->is_postgres ? postgres : NULL;
}

/* Reads a string of letters; false: it is something else. */
static bool read_name(struct remote *remote, uint64_t address, char name[NAME_MOST])
{
	if (address == 0 || mem_read(&remote->mem, name, NAME_MOST, address) < 0)
		return false;
	const size_t len = strnlen(name, NAME_MOST);

	for (size_t i = 0; i < len; i++) {
		if ((name[i] < 'A' || name[i] > 'Z') && (name[i] < 'a' || name[i] > 'z'))
			return false;
	}
	return len > 0 && len < NAME_MOST;
}

static bool is_name(struct remote *remote, uint64_t address, const char *expected)
{
	char name[NAME_MOST];

	return read_name(remote, address, name) && strcmp(name, expected) == 0;
}

/*
 * Finds the array that begins with these two names, among the constants after the exported one.
 */
static void find_more_names(struct remote *remote, struct postgres *postgres)
{
	const struct mapping *mapping = maps_find(remote->maps, postgres->first_names);

	if (postgres->has_scanned || !mapping)
		return;
	postgres->has_scanned = true;
	const uint64_t begin = mapping->start;
	const uint64_t end =
		mapping->end - begin > SCAN_MOST ? begin + SCAN_MOST : mapping->end;

	for (uint64_t at = begin; at + 2 * sizeof at <= end; at += sizeof at) {
		const uint64_t name = word_at(remote, at);

		if (name != 0 && is_name(remote, name, "XactBuffer") &&
		    is_name(remote, word_at(remote, at + sizeof at), "CommitTsBuffer")) {
			postgres->more_names = at;
			return;
		}
	}
}

/* The address of a lightweight lock's name; 0: unknown. */
static uint64_t lightweight_name(struct remote *remote, struct postgres *postgres, uint32_t id)
{
	if (postgres->first_names == 0 || id >= TRANCHES_MOST)
		return 0;
	if (id < postgres->first_count)
		return word_at(remote, postgres->first_names + id * sizeof(uint64_t));
	find_more_names(remote, postgres);
	return postgres->more_names == 0
		       ? 0
		       : word_at(remote, postgres->more_names + (id - postgres->first_count) *
									sizeof(uint64_t));
}

static uint64_t name_of(struct remote *remote, struct postgres *postgres, uint32_t class,
			uint32_t id)
{
	if (class == CLASS_LWLOCK)
		return lightweight_name(remote, postgres, id);
	return class == CLASS_LOCK && postgres->lock_names != 0 && id < LOCKS_MOST
		       ? word_at(remote, postgres->lock_names + id * sizeof(uint64_t))
		       : 0;
}

bool postgres_wait_add(struct remote *remote, struct text *out, enum wait_state *state)
{
	struct postgres *postgres = postgres_of(remote);
	char name[NAME_MOST];
	uint32_t event;

	if (!postgres ||
	    mem_read(&remote->mem, &event, sizeof event, word_at(remote, postgres->event)) < 0)
		return false;
	const uint32_t class = event >> 24;

	if (class >= CLASS_COUNT || !classes[class].name)
		return false;
	text_add(out, classes[class].name);
	if (read_name(remote, name_of(remote, postgres, class, event & 0xffff), name))
		text_addf(out, " %s", name);
	*state = classes[class].state;
	return true;
}
