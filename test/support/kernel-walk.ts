/**
 * Program in Python that opens every file below /proc and /sys for writing, but for those of processes in its own process
 * namespace. Prints what can be written, and `walked` at its end.
 */
export const KERNEL_WALK = `
import os, stat
def own(pid):
    try: return os.readlink('/proc/' + pid + '/ns/pid') == os.readlink('/proc/self/ns/pid')
    except OSError: return False
for top in ('/proc', '/sys'):
    for folder, folders, files in os.walk(top):
        if folder == '/proc':
            folders[:] = [name for name in folders if name not in ('self', 'thread-self') and not (name.isdigit() and own(name))]
        for name in files:
            path = os.path.join(folder, name)
            try:
                if stat.S_ISLNK(os.lstat(path).st_mode): continue
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                print(path)
            except OSError: pass
        if os.access(folder, os.W_OK): print(folder)
print('walked')
`;
