/*
 * A file is copied into the recording only if it is the one that is mapped, whatever its path
 * leads to by now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/memory.h"
#include "collect/stacks/file_keeper.h"
#include "collect/processes/mappings.h"
#include "record/reader.h"
#include "record/writer.h"

#define PAGE   4096
#define MAPPED "what the program has mapped"
#define SECRET "what only the recorder may read"

struct scene {
	char folder[32];
	char *place, *file, *secret, *recording;
	struct recording_writer *writer;
	uint32_t row;
	struct file_keeper keep;
	void *map;
	struct module_place mapped;
};

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	assert_int_equal(ftruncate(fileno(file), PAGE), 0);
	fclose(file);
}

static void map_file(struct scene *scene)
{
	CLEANUP(closep) int fd = open(scene->file, O_RDONLY);

	scene->map = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(scene->map, MAP_FAILED);
	scene->mapped = (struct module_place){ .start = (uintptr_t)scene->map,
					       .end = (uintptr_t)scene->map + PAGE,
					       .has_file = true,
					       .path = scene->file };
}

static int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);
	struct error err;

	strcpy(scene->folder, "/tmp/fathom-keep-XXXXXX");
	assert_non_null(mkdtemp(scene->folder));
	scene->place = xasprintf("%s/place", scene->folder);
	scene->file = xasprintf("%s/place/file", scene->folder);
	scene->secret = xasprintf("%s/secret", scene->folder);
	scene->recording = xasprintf("%s/a.fathom", scene->folder);
	mkdir(scene->place, 0700);
	write_file(scene->file, MAPPED);
	write_file(scene->secret, SECRET);
	if (recording_writer_create(scene->recording, &scene->writer, &err) < 0)
		fail_msg("%s", err.text);
	recording_writer_add_process(scene->writer,
				     &(struct recording_process){ .pid = 77, .name = "made" },
				     &scene->row);
	map_file(scene);
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;
	CLEANUP(freep) char *command = xasprintf("rm -rf %s", scene->folder);

	munmap(scene->map, PAGE);
	file_keeper_done(&scene->keep);
	free(scene->place);
	free(scene->file);
	free(scene->secret);
	free(scene->recording);
	free(scene);
	return system(command);
}

struct kept {
	size_t count;
	bool has_mapped;
};

static int take_file(void *context, const struct recording_file *row)
{
	struct kept *kept = context;

	kept->count++;
	if (row->len != PAGE || strcmp(row->data, MAPPED) != 0)
		fail_msg("copied: %.*s", (int)row->len, (const char *)row->data);
	kept->has_mapped = true;
	return 0;
}

/* Ends the recording: whether the mapped file is in it, and nothing else. */
static bool is_copied(struct scene *scene)
{
	CLEANUP(recording_reader_closep) struct recording_reader *reader = NULL;
	struct kept kept = { 0 };
	struct error err;

	file_keeper_finish(&scene->keep, scene->writer);
	assert_int_equal(recording_writer_close(scene->writer, &err), 0);
	assert_int_equal(recording_reader_open(scene->recording, &reader, &err), 0);
	assert_int_equal(recording_reader_each_file(reader, take_file, &kept, &err), 0);
	assert_true(kept.count <= 1);
	return kept.has_mapped;
}

static void note(struct scene *scene, pid_t pid)
{
	file_keeper_add(&scene->keep, scene->row, pid, &scene->mapped);
}

static void a_file_that_is_built_anew_is_copied(void **state)
{
	struct scene *scene = *state;

	note(scene, getpid());
	unlink(scene->file);
	write_file(scene->file, SECRET);
	assert_true(is_copied(scene));
}

static void a_file_that_stays_is_not_copied(void **state)
{
	struct scene *scene = *state;

	note(scene, getpid());
	assert_false(is_copied(scene));
}

static void a_link_in_its_place_is_not_followed(void **state)
{
	struct scene *scene = *state;

	unlink(scene->file);
	assert_int_equal(symlink(scene->secret, scene->file), 0);
	note(scene, getpid());
	unlink(scene->file);
	is_copied(scene);
}

static void nor_is_one_in_its_folders_place(void **state)
{
	struct scene *scene = *state;
	CLEANUP(freep) char *aside = xasprintf("%s/aside", scene->folder);
	CLEANUP(freep) char *file = xasprintf("%s/hidden/file", scene->folder);
	CLEANUP(freep) char *hidden = xasprintf("%s/hidden", scene->folder);

	mkdir(hidden, 0700);
	write_file(file, SECRET);
	assert_int_equal(rename(scene->place, aside), 0);
	assert_int_equal(symlink(hidden, scene->place), 0);
	note(scene, getpid());
	unlink(scene->place);
	is_copied(scene);
}

static void a_fifo_in_its_place_is_not_waited_for(void **state)
{
	struct scene *scene = *state;

	unlink(scene->file);
	assert_int_equal(mkfifo(scene->file, 0600), 0);
	note(scene, getpid());
	unlink(scene->file);
	is_copied(scene);
}

/* Its number is given to no other process before it is waited for. */
static void of_a_process_that_has_ended_no_other_file_is_copied(void **state)
{
	struct scene *scene = *state;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	siginfo_t info;
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	unlink(scene->file);
	assert_int_equal(symlink(scene->secret, scene->file), 0);
	note(scene, pid);
	unlink(scene->file);
	assert_false(is_copied(scene));
	waitpid(pid, NULL, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_is_built_anew_is_copied),
		TEST(a_file_that_stays_is_not_copied),
		TEST(a_link_in_its_place_is_not_followed),
		TEST(nor_is_one_in_its_folders_place),
		TEST(a_fifo_in_its_place_is_not_waited_for),
		TEST(of_a_process_that_has_ended_no_other_file_is_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
