import { readlinkSync } from 'node:fs';

/**
 * Program in Python that tries to write to every file below /proc and /sys what it has already, and no byte to empty
 * and unreadable ones: the kernel refuses that as well where it refuses writes. It leaves out those of processes in its
 * own process namespace: they are the sandbox's first process and what it started, and one has no more rights over
 * another than over itself. In the namespace of this process, that of the worker, it leaves out nothing but itself.
 * Prints what was written, and folders where files can be made; `walked` at its end.
 */
export const KERNEL_WALK = `
import os, stat
isolated = os.readlink('/proc/self/ns/pid') != '${readlinkSync('/proc/self/ns/pid')}'
def own(pid):
    try:
        with open('/proc/' + pid + '/status') as file: fields = dict(line.split(':', 1) for line in file if ':' in line)
        return len(fields['NSpid'].split()) == 1
    except OSError: return False
isolated = isolated and own('self')
def content(path):
    try:
        with open(path, 'rb') as file: return file.read(4096)
    except OSError: return b''
for top in ('/proc', '/sys'):
    for folder, folders, files in os.walk(top):
        if folder == '/proc':
            folders[:] = [name for name in folders if name not in ('self', 'thread-self') and not (name.isdigit() and (isolated and own(name) or name == str(os.getpid())))]
        for name in files:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISLNK(os.lstat(path).st_mode): continue
                opened = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError: continue
            try:
                same = content(path)
                if os.write(opened, same) > 0 or same == b'': print(path)
            except OSError: pass
            os.close(opened)
        if os.access(folder, os.W_OK): print(folder)
print('walked')
`;
