/*
 * socket_folder - a folder for the recorder's socket, in which only this user can make names.
 *
 * 	BASE/fathom-UID/XXXXXX
 *
 * BASE is XDG_RUNTIME_DIR where that is this user's alone, else TMPDIR, else /tmp.  The user's
 * folder stays when a recorder ends, so that no other user can ever create a path that agents
 * know.  The run's folder is locked (flock(2)) until the recorder ends; one that a killed
 * recorder has left behind is removed by the next recorder.
 *
 * Root's folders can be entered by others, though not listed: root's recorder also samples
 * programs that have changed to another user.
 */
#pragma once

struct error;

/* Followed by a socket's name, a path of this length fits into a struct sockaddr_un. */
#define SOCKET_FOLDER_PATH 80

struct socket_folder {
	int lock_fd;                   /* the folder's descriptor; -1: there is none */
	char path[SOCKET_FOLDER_PATH]; /* "": there is none */
};

/*
 * Makes a folder, and removes the sibling folders of recorders that were killed.
 * socket_folder_remove() removes the folder; call it after an error, too.
 */
int socket_folder_make(struct socket_folder *out_folder, struct error *err);
/* The folder must be empty. */
void socket_folder_remove(struct socket_folder *folder);
/*
 * The only file besides the sockets that a recorder puts there: nothing else is removed from a
 * folder that was left behind.
 */
#define SOCKET_FOLDER_AGENT_LINK "/libfathom-agent.so"
