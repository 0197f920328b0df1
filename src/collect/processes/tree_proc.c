/* Reads processes and threads from /proc that run already, or that nothing else reports. */
#include "collect/processes/tree.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/processes/image.h"
#include "collect/processes/mappings.h"
#include "collect/system/process_stat.h"
#include "collect/processes/tree_internal.h"

static void read_comm(pid_t pid, pid_t tid, char out_name[16])
{
	char path[64], name[16] = "";
	snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)pid, (int)tid);
	FILE *file = fopen(path, "re");

	if (file == NULL)
		return;
	if (fgets(name, sizeof name, file) != NULL) {
		name[strcspn(name, "\n")] = '\0';
		tree_copy_name(out_name, name);
	}
	fclose(file);
}

void tree_read_thread(struct tree *tree, struct image *image, pid_t tid, uint64_t time_ns)
{
	struct image_thread *thread = image_thread_at(image, tid, time_ns, tree->writer);

	read_comm(image->pid, tid, thread->name);
	thread->has_new_name = image->has_new_names = true;
}

void tree_read_name(struct tree *tree, struct image *image)
{
	read_comm(image->pid, image->pid, image->name);
	image_write(image, tree->session_start_ns, tree->writer);
}

void tree_add_command(struct tree *tree, pid_t pid, uint64_t time_ns)
{
	struct image *image = tree_find(tree, pid);

	if (image != NULL)
		return;
	image = tree_add(tree, pid, NULL, time_ns);
	image->mappings = mappings_new();
	image->running_threads = 1;
	tree_read_name(tree, image);
}

void tree_read_process(struct tree *tree, struct image *image)
{
	char link[64], path[PATH_MAX];

	if (!tree->has_sideband)
		read_comm(image->pid, image->pid, image->name);
	snprintf(link, sizeof link, "/proc/%d/exe", (int)image->pid);
	ssize_t len = readlink(link, path, sizeof path - 1);

	if (len > 0 && image->exe == NULL)
		image->exe = xstrndup(path, (size_t)len);
	image_write(image, tree->session_start_ns, tree->writer);
}

struct image *tree_find_parent(const struct tree *tree, pid_t pid)
{
	struct process_stat stat;

	return process_stat_read(pid, &stat) ? tree_find(tree, stat.parent) : NULL;
}
