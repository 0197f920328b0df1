#include "remote/followed.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "abi/walk_status.h"
#include "base/memory.h"
#include "base/read_at.h"
#include "remote/images.h"
#include "remote/outer_part.h"
#include "remote/process.h"
#include "remote/stack.h"
#include "remote/stack_copy.h"
#include "remote/unwind_files.h"
#include "remote/walk.h"
#include "remote/walk_i386.h"

/* Mappings per process; real ones have some hundreds at a time. */
#define IMAGES_MAX 8192
/* Memory this near to a copied stack belongs to the same stack, which has changed since. */
#define STACK_BELOW (128ULL << 10)
#define STACK_ABOVE (8ULL << 20)
/* So much beyond a copy is read from the process, each page by a system call. */
#define STACK_READ_ON (256ULL << 10)
#define ADDRESS_END   (1ULL << 47)
#define I386_END      (1ULL << 32)

struct followed {
	struct remote remote;
	struct unwind_files *files;
	/* Parallel to remote.images; NULL: the vdso. */
	struct unwind_file **mapped;
	size_t mapped_capacity;
	uint64_t copy_low, copy_high; /* of the current walk */
	bool is_beyond;               /* the walk needed the stack beyond the copy */
	bool reads_on;                /* reading that from the process is allowed */
	bool has_tried_memory;        /* opening remote.fd has been attempted */
};

/* Copies a page of the file as it is mapped: zeros beyond the file's end. */
static bool read_page(const struct unwind_file *file, uint64_t address, uint8_t *page)
{
	for (size_t i = 0; i < file->elf.load_count; i++) {
		const struct elf_file_load *load = &file->elf.loads[i];
		const uint64_t low = load->address & ~(MEMORY_PAGE - 1);
		const uint64_t offset = load->offset & ~(MEMORY_PAGE - 1);

		if (load->is_writable || address < low || address - low >= file->elf.size ||
		    address >= load->address + load->file_size)
			continue;
		const uint64_t at = offset + (address - low);
		const uint64_t left = at < file->elf.size ? file->elf.size - at : 0;
		const size_t len = left < MEMORY_PAGE ? (size_t)left : (size_t)MEMORY_PAGE;

		memset(page + len, 0, (size_t)MEMORY_PAGE - len);
		return len > 0 && elf_file_read_file(&file->elf, at, page, len);
	}
	return false;
}

/* Reads a page of our own vdso: the kernel maps the same into each 64-bit process. */
static bool read_vdso_page(uint64_t offset, uint8_t *page)
{
	const uint64_t own = getauxval(AT_SYSINFO_EHDR);
	CLEANUP(closep) int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

	return own != 0 && fd >= 0 && read_at(fd, page, (size_t)MEMORY_PAGE, own + offset);
}

static bool read_own_page(struct followed *followed, uint64_t address, uint8_t *page)
{
	struct remote *remote = &followed->remote;
	char path[32];

	if (!followed->has_tried_memory) {
		followed->has_tried_memory = true;
		snprintf(path, sizeof path, "/proc/%d/mem", (int)remote->pid);
		remote->fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return remote->fd >= 0 && read_at(remote->fd, page, (size_t)MEMORY_PAGE, address);
}

static bool fetch(void *context, uint64_t address, void *page, bool *out_is_lasting)
{
	struct followed *followed = context;
	const struct remote_images *images = &followed->remote.images;
	const struct remote_image *image = remote_images_find(images, address);
	const uint64_t below =
		followed->copy_low > STACK_BELOW ? followed->copy_low - STACK_BELOW : 0;

	*out_is_lasting = image != NULL;
	if (image) {
		const struct unwind_file *file = followed->mapped[image - images->images];

		if (file                 ? read_page(file, address - image->bias, page)
		    : address < I386_END ? read_own_page(followed, address, page)
					 : read_vdso_page(address - image->native.start, page))
			return true;
		*out_is_lasting = false;
	}
	if (address + MEMORY_PAGE > below && address < followed->copy_high + STACK_ABOVE) {
		const bool is_outer = address + MEMORY_PAGE > followed->copy_high;

		followed->is_beyond |= is_outer;
		if (!is_outer || !followed->reads_on ||
		    address >= followed->copy_high + STACK_READ_ON)
			return false;
	}
	return read_own_page(followed, address, page);
}

struct followed *followed_new(pid_t pid, struct unwind_files *files)
{
	struct followed *followed = xzalloc(sizeof *followed);

	followed->files = files;
	followed->remote = (struct remote){ .pid = pid, .fd = -1 };
	followed->remote.shared_rules = &files->rules;
	memory_init(&followed->remote.mem, (struct memory_source){ fetch, followed });
	return followed;
}

void followed_free(struct followed *followed)
{
	if (!followed)
		return;
	for (size_t i = 0; i < followed->remote.images.count; i++)
		unwind_files_release(followed->mapped[i]);
	free(followed->mapped);
	remote_images_done(&followed->remote.images);
	memory_done(&followed->remote.mem);
	recent_done(&followed->remote.rules);
	closep(&followed->remote.fd);
	free(followed);
}

/*
 * Drops cached pages and unwind rules: their addresses may belong to another mapping from now
 * on.
 */
static void forget(struct followed *followed)
{
	struct mem *mem = &followed->remote.mem;
	const struct memory_source source = mem->source;

	memory_done(mem);
	memory_init(mem, source);
	recent_done(&followed->remote.rules);
}

/* Removes the images that overlapped this range: a new mapping replaced them. */
static void clear(struct followed *followed, uint64_t start, uint64_t end)
{
	struct remote_images *images = &followed->remote.images;
	size_t kept = 0;

	for (size_t i = 0; i < images->count; i++) {
		const struct native_image *native = &images->images[i].native;

		if (native->start < end && start < native->end) {
			unwind_files_release(followed->mapped[i]);
			continue;
		}
		images->images[kept] = images->images[i];
		followed->mapped[kept++] = followed->mapped[i];
	}
	if (kept < images->count)
		forget(followed);
	images->count = kept;
}

static void insert(struct followed *followed, const struct remote_image *image,
		   struct unwind_file *file)
{
	struct remote_images *images = &followed->remote.images;
	size_t i = images->count;

	images->images = array_grow(images->images, images->count, &images->capacity,
				    sizeof *images->images);
	followed->mapped = array_grow(followed->mapped, images->count,
				      &followed->mapped_capacity, sizeof(struct unwind_file *));
	for (; i > 0 && images->images[i - 1].native.start > image->native.start; i--) {
		images->images[i] = images->images[i - 1];
		followed->mapped[i] = followed->mapped[i - 1];
	}
	images->images[i] = *image;
	followed->mapped[i] = file;
	images->count++;
}

/* The segment that a mapping at this file offset is a part of, or NULL. */
static const struct elf_file_load *load_of(const struct elf_file *elf, uint64_t offset)
{
	for (size_t i = 0; i < elf->load_count; i++) {
		const struct elf_file_load *load = &elf->loads[i];

		if (load->is_executable && offset >= (load->offset & ~(MEMORY_PAGE - 1)) &&
		    offset < load->offset + load->file_size)
			return load;
	}
	return NULL;
}

/* Places the whole file in memory as the loader does, given one of its mappings. */
static bool place_image(const struct unwind_file *file, const struct followed_mapping *mapping,
			struct remote_image *out_image)
{
	const struct elf_file *elf = &file->elf;
	const struct elf_file_load *load = load_of(elf, mapping->file_offset);
	uint64_t low = UINT64_MAX, high = 0;

	if (!load)
		return false;
	const uint64_t bias =
		mapping->start - (load->address - load->offset + mapping->file_offset);

	for (size_t i = 0; i < elf->load_count; i++) {
		const struct elf_file_load *part = &elf->loads[i];

		if (part->address >= ADDRESS_END || part->memory_size >= ADDRESS_END)
			return false;
		if (part->address < low)
			low = part->address & ~(MEMORY_PAGE - 1);
		if (part->address + part->memory_size > high)
			high = part->address + part->memory_size;
	}
	*out_image = (struct remote_image){
		.native = { .start = low + bias, .end = high + bias },
		.bias = bias,
		.has_code = true,
		.file = file,
		.file_id = file->id,
	};
	if (out_image->native.start >= out_image->native.end ||
	    mapping->start < out_image->native.start || mapping->start >= out_image->native.end)
		return false;
	if (elf->frame_header != 0) {
		out_image->native.eh_frame_hdr = elf->frame_header + bias;
		out_image->native.eh_frame_hdr_len =
			out_image->native.end - out_image->native.eh_frame_hdr;
	} else if (file->frames.size > 0) {
		out_image->native.eh_frame = file->frames.address + bias;
		out_image->native.eh_frame_len = file->frames.size;
	}
	return true;
}

/* Our own process has no vdso for 32-bit programs, so its headers are read from the target. */
static void read_i386_headers(struct followed *followed, struct remote_image *image)
{
	uint8_t head[MEMORY_PAGE];
	struct elf_file elf = { .fd = -1 };

	if (memory_read(&followed->remote.mem, head, sizeof head, image->native.start) < 0 ||
	    !elf_file_take_i386(&elf, head, sizeof head))
		return;
	image->bias = image->native.start - (elf.loads[0].address - elf.loads[0].offset);
	if (elf.frame_header == 0)
		return;
	image->native.eh_frame_hdr = elf.frame_header + image->bias;
	image->native.eh_frame_hdr_len = image->native.end - image->native.eh_frame_hdr;
}

static void map_vdso(struct followed *followed, const struct followed_mapping *mapping)
{
	struct remote_images *images = &followed->remote.images;
	struct remote_image image = {
		.native = { .start = mapping->start, .end = mapping->end },
		.bias = mapping->start,
		.has_code = true,
	};

	insert(followed, &image, NULL);
	for (size_t i = 0; i < images->count; i++) {
		if (images->images[i].native.start != mapping->start)
			continue;
		if (mapping->end <= I386_END)
			read_i386_headers(followed, &images->images[i]);
		else
			remote_image_read_headers(&images->images[i], &followed->remote.mem);
	}
}

static bool is_there(const struct followed *followed, const struct remote_image *image)
{
	const struct remote_image *there =
		remote_images_find(&followed->remote.images, image->native.start);

	return there && there->file_id == image->file_id && there->bias == image->bias;
}

void followed_map(struct followed *followed, const struct followed_mapping *mapping)
{
	struct unwind_file *file = NULL;
	struct remote_image image;

	if (mapping->path && strcmp(mapping->path, "[vdso]") == 0) {
		clear(followed, mapping->start, mapping->end);
		map_vdso(followed, mapping);
		return;
	}
	if (mapping->path && followed->remote.images.count < IMAGES_MAX)
		file = unwind_files_open(followed->files, followed->remote.pid, mapping->path,
					 mapping->build_id, mapping->build_id_len);
	if (!file || !place_image(file, mapping, &image)) {
		unwind_files_release(file);
		clear(followed, mapping->start, mapping->end);
		return;
	}
	if (is_there(followed, &image)) {
		unwind_files_release(file);
		return;
	}
	clear(followed, image.native.start, image.native.end);
	insert(followed, &image, file);
}

static void walk(struct followed *followed, const struct stack_copy *copy, bool reads_on,
		 struct remote_stack *stack)
{
	struct mem *mem = &followed->remote.mem;
	const struct walk_states none = { 0 };

	memory_forget(mem);
	followed->copy_low = copy->registers.sp;
	followed->copy_high = copy->registers.sp + copy->len;
	followed->is_beyond = false;
	followed->reads_on = reads_on;
	memory_use_copy(mem, copy->registers.sp, copy->stack, copy->len);
	if (copy->is_32_bit)
		walk_i386(&followed->remote, &followed->files->i386_rows, copy, stack);
	else
		walk_stack(&followed->remote, &copy->registers, &none, stack);
	if (stack->ending == WALK_UNREADABLE && followed->is_beyond)
		stack->ending = WALK_TOO_DEEP;
}

static bool outer_part_belongs(struct followed *followed, bool is_32_bit,
			       const struct remote_stack *stack)
{
	const struct outer_part part = {
		.remote = &followed->remote,
		.copy_low = followed->copy_low,
		.copy_high = followed->copy_high,
		.word = is_32_bit ? 4 : 8,
	};

	return outer_part_has_seam(&part, stack) && outer_part_leads_inwards(&part, stack);
}

bool followed_walk(struct followed *followed, const struct stack_copy *copy,
		   struct remote_stack *stack)
{
	walk(followed, copy, false, stack);
	const bool is_deeper = stack->ending == WALK_TOO_DEEP && followed->is_beyond;

	if (is_deeper) {
		walk(followed, copy, true, stack);
		if (!outer_part_belongs(followed, copy->is_32_bit, stack))
			walk(followed, copy, false, stack);
	}
	memory_use_copy(&followed->remote.mem, 0, NULL, 0);
	return is_deeper;
}
