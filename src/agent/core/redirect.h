/*
 * redirect - interposes functions in a running process: redirects its images' calls.
 *
 * A preloaded agent interposes functions since the linker finds them in it first.  In one that
 * is loaded later it finds none; so the addresses that the linker wrote into the loaded images
 * (their relocations for functions of other images) are rewritten.  Not redirected: calls within
 * libc, pointers that a program got by dlsym(), images that are loaded later, and the functions
 * that start programs (exec, posix_spawn(), system(), popen()): programs that an attached
 * process starts get no agent.
 */
#pragma once

/* No image can be unloaded meanwhile (linker's lock).  False: our symbol table cannot be read. */
int redirect_images(void);
