package group

import "golang.org/x/sys/unix"

// noteExit asks for the end of a process and its status, which is told to its parent alone.
const noteExit = unix.NOTE_EXIT | unix.NOTE_EXITSTATUS
