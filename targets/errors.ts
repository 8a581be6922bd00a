import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    targets: typeof ERRORS
  }
}

/** The codes of `targets/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'boot-not-verified': {
    sentence: 'the installed system did not prove that it is the one that was installed',
    remedy: 'look at the checks in the report',
  },
  'command-refused': {
    sentence: 'the disk policy does not let the command run',
    remedy: 'allow what it needs with --allow, or use --target-is-disposable',
  },
  device: {
    sentence: 'the text does not name exactly one disk',
    remedy: 'give a serial number, a WWN or a name of /dev/disk/by-id',
  },
  'disk-file': {
    sentence: 'the disk file cannot be used',
    remedy: 'make a regular file, as in truncate -s 10G FILE',
  },
  'disk-in-use': {
    sentence: 'the disk is in use',
    remedy: 'unmount, stop or remove what uses it',
  },
  'disk-refused': {
    sentence: 'the target refused to let the command open the disk',
    remedy: 'see the cause; nothing was opened or written',
  },
  'host-action': {
    sentence: 'the allowed action would change this host',
    remedy: 'use --target-is-disposable if nothing on this host matters, or leave it out',
  },
  'host-key-changed': {
    sentence: 'the host shows another key than the one that is known',
    remedy: 'find out why its key changed; remove the old one with ssh-keygen -R',
  },
  'host-key-pin': {
    sentence: 'the pinned host key is not a fingerprint, or not the key of the host',
    remedy: 'give the fingerprint as ssh-keygen -l prints it',
  },
  'host-key-revoked': {
    sentence: 'the host shows a key that known_hosts revokes',
    remedy: 'give the host a new key',
  },
  'host-key-unknown': {
    sentence: "the host's key is not known",
    remedy: 'pin it with --host-key, or log in once with ssh',
  },
  'link-lost': {
    sentence: 'the link to the target is lost',
    remedy: 'see that the machine is on and that the network path to it works',
  },
  'loop-device': {
    sentence: 'a file cannot be made a loop device',
    remedy: 'work as root, with losetup of util-linux',
  },
  'no-disk': {
    sentence: 'the named disk is not there',
    remedy: 'look at the disks with lsblk -o NAME,SERIAL,WWN',
  },
  'no-flock': {
    sentence: 'flock is missing, which keeps two installations on one host from running at once',
    remedy: 'install util-linux',
  },
  'no-installer': {
    sentence: 'coreos-installer is not there',
    remedy: 'install it, or name it with --installer PATH',
  },
  'no-room': {
    sentence: 'the target has no room for the image in memory',
    remedy: 'leave --stage-image out',
  },
  'path-refused': {
    sentence: 'the file is not part of the named disk',
    remedy: 'use --target-is-disposable where files of the target may be written',
  },
  'ssh-address': {
    sentence: 'the text is not the address of an SSH target',
    remedy: 'write it as ssh://user@host or ssh://user@host:port',
  },
  'ssh-algorithms': {
    sentence: 'the host and ironstage have no SSH algorithm in common',
    remedy: 'look at the KexAlgorithms, HostKeyAlgorithms, Ciphers and MACs of both sides',
  },
  'ssh-authentication': {
    sentence: 'the host does not accept the login',
    remedy: 'see that ssh to that host works',
  },
  'ssh-config': {
    sentence: 'the SSH configuration cannot be used',
    remedy: 'correct ~/.ssh/config',
  },
  'ssh-no-commands': {
    sentence: 'the host runs no commands for this login',
    remedy: 'look at ForceCommand in its sshd_config and at the options of the key in authorized_keys',
  },
  'ssh-no-forwarding': {
    sentence: 'the host does not forward ports',
    remedy: 'allow it with AllowTcpForwarding in its sshd_config',
  },
  'ssh-other-host': {
    sentence: 'another machine answers at the address',
    remedy: 'find out which machine has the address now',
  },
  'ssh-unreachable': {
    sentence: 'the host cannot be reached',
    remedy: 'see that the machine is on and that ssh to it works',
  },
  'sudo-password': {
    sentence: 'sudo needs a password that is missing or wrong',
    remedy: 'set the right one in IRONSTAGE_SUDO_PASSWORD',
  },
  'sudo-refused': {
    sentence: 'sudo does not let the user work as root',
    remedy: 'log in as root, or let the user run /bin/sh by sudo',
  },
  'sudo-silent': {
    sentence: 'sudo does not answer',
    remedy: 'see that sudo true works on the target',
  },
  'target-file': {
    sentence: 'a file of the target cannot be read or written',
    remedy: 'check the file and its permissions',
  },
  'target-full': {
    sentence: 'the target stores no more bytes',
    remedy: 'free memory of the target, and space in its /run',
  },
  'target-rebooted': {
    sentence: 'the target rebooted during the work',
    remedy: 'begin again: the programs that ran there are gone',
  },
  'target-says-too-much': {
    sentence: 'the target sends more output than the limit',
    remedy: 'look at what logging in prints, also in ~/.bashrc, ~/.profile and /etc/profile.d',
  },
  'target-shell': {
    sentence: 'the login shell of the target does not run scripts',
    remedy: 'look at what logging in prints; /bin/sh must be there',
  },
  'target-unusable': {
    sentence: 'the target has no folder for the programs that run there',
    remedy: 'make room, or make one of /run, /dev/shm and /tmp writable',
  },
  'too-much-output': {
    sentence: 'a program printed more than the limit',
    remedy: 'look at what it prints on the target',
  },
  unguarded: {
    sentence: 'the target cannot confine a command to the named disk',
    remedy: 'work as root on a Linux with namespaces and util-linux, or use --allow unguarded',
  },
  'unknown-run': {
    sentence: 'the target has no record of the run',
    remedy: 'begin again',
  },
  upload: {
    sentence: 'a file changed or could not be read while it was sent',
    remedy: 'leave the file alone while it is sent',
  },
  'zero-byte': {
    sentence: 'an argument of a program contains a zero byte',
    remedy: 'remove the zero byte',
  },
})
