/*
 * socket_folder - a folder for the recorder's socket, in which only this user can make names.
 *
 *	BASE/fathom-UID/XXXXXX
 *
 * BASE is XDG_RUNTIME_DIR where that is this user's alone, else TMPDIR, else /tmp.  The folder of
 * the user stays when a recorder ends: so no other user can ever make a path that agents know.  That
 * of the run is locked (flock(2)) as long as the recorder lives; what a killed one has left behind
 * is removed by the next.
 *
 * Root's folders can be entered by others, though not listed: a recorder of root's also samples
 * programs that have given up their user.
 */
#pragma once

struct error;

/* With a socket's name behind it, it fits into a struct sockaddr_un. */
#define SOCKET_FOLDER_PATH 80

struct socket_folder {
	int lock_fd;                   /* the folder itself; -1: there is none */
	char path[SOCKET_FOLDER_PATH]; /* "": there is none */
};

/*
 * Makes a folder, and removes those next to it whose recorders were killed.  socket_folder_remove()
 * ends it, also after an error.
 */
int socket_folder_make(struct socket_folder *out_folder, struct error *err);
/* What was put into it must have been removed. */
void socket_folder_remove(struct socket_folder *folder);
/* Files that a recorder puts there: only these are removed from a folder that was left behind. */
#define SOCKET_FOLDER_AGENT_LINK "/libfathom-agent.so"
