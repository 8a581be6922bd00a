import { defineCatalogue } from '../base/runtime/index.js'

declare module '../base/runtime/error.js' {
  interface ErrorCatalogues {
    targets: typeof ERRORS
  }
}

/** The codes of `targets/`, each with the failure that it stands for and its usual remedy. */
export const ERRORS = defineCatalogue({
  'boot-not-verified': {
    sentence: 'the booted system could not be verified as the installed one',
    remedy: 'see the checks in the report',
  },
  'built-in-installer': {
    sentence: "ironstage's own installer cannot be used here",
    remedy: 'leave out --installer built-in',
  },
  'command-refused': {
    sentence: 'the disk policy does not let the command run',
    remedy: 'allow what it needs with --allow, or use --target-is-disposable',
  },
  device: {
    sentence: 'the text does not name exactly one disk',
    remedy: 'give a serial number, a WWN, or a name below /dev/disk/by-id or /dev/disk/by-path',
  },
  'disk-file': {
    sentence: 'the disk file cannot be used',
    remedy: 'create a regular file, as in truncate -s 10G FILE',
  },
  'disk-in-use': {
    sentence: 'the disk is in use',
    remedy: 'unmount, stop or remove what uses it',
  },
  'disk-refused': {
    sentence: 'the target did not allow the command to open the disk',
    remedy: 'see the cause; nothing was opened or written',
  },
  'foreign-proc': {
    sentence: '/proc does not show the processes of the PID namespace',
    remedy: 'mount it there: mount -t proc proc /proc, or unshare --mount-proc',
  },
  'gpt-parser': {
    sentence: 'the kernel of the host reads no GPT partition tables',
    remedy:
      'put a udevadm earlier on PATH that lets partx update the partitions of the disk, then runs the real udevadm',
  },
  'host-action': {
    sentence: 'the allowed action would change this host',
    remedy: 'use --target-is-disposable if nothing on this host matters, or leave out the --allow',
  },
  'host-key-changed': {
    sentence: 'the host key differs from the known one',
    remedy: 'find out why the key changed; remove the old one with ssh-keygen -R',
  },
  'host-key-pin': {
    sentence: 'the pinned host key is not a fingerprint, or does not match the host',
    remedy: 'give the fingerprint as ssh-keygen -l prints it',
  },
  'host-key-revoked': {
    sentence: 'the host key is revoked in known_hosts',
    remedy: 'give the host a new key',
  },
  'host-key-unknown': {
    sentence: "the host's key is not known",
    remedy: 'pin it with --host-key, or log in once with ssh',
  },
  'link-lost': {
    sentence: 'the connection to the target is lost',
    remedy: 'check that the machine is on and that the network path to it works',
  },
  'loop-device': {
    sentence: 'a file cannot be attached to a loop device',
    remedy: 'run as root, with losetup of util-linux',
  },
  'no-disk': {
    sentence: 'the named disk does not exist',
    remedy: 'list the disks with lsblk -o NAME,SERIAL,WWN',
  },
  'no-flock': {
    sentence: 'flock is missing; it prevents two installations on one host at once',
    remedy: 'install util-linux',
  },
  'no-installer': {
    sentence: 'coreos-installer was not found on PATH',
    remedy: 'install it, set its path with --installer PATH, or use --installer built-in on this host',
  },

  'no-room': {
    sentence: 'the target has too little memory for the image',
    remedy: 'leave out --stage-image',
  },
  'no-udev': {
    sentence: 'no udevd runs on the host',
    remedy:
      'start systemd-udevd (package udev); in a container, mount the /run/udev of the host; or, if the command has it, use --installer built-in',
  },
  'path-refused': {
    sentence: 'the file is not part of the named disk',
    remedy: 'use --target-is-disposable if files of the target may be written',
  },
  'ssh-address': {
    sentence: 'the SSH target is not a valid address',
    remedy: 'write it as ssh://user@host or ssh://user@host:port',
  },
  'ssh-algorithms': {
    sentence: 'the host and ironstage have no SSH algorithm in common',
    remedy: 'compare KexAlgorithms, HostKeyAlgorithms, Ciphers and MACs on both sides',
  },
  'ssh-authentication': {
    sentence: 'the host rejects the login',
    remedy: 'check that ssh to the host works',
  },
  'ssh-config': {
    sentence: 'the SSH configuration cannot be used',
    remedy: 'correct ~/.ssh/config',
  },
  'ssh-no-commands': {
    sentence: 'the host runs no commands for this login',
    remedy: 'check ForceCommand in its sshd_config and the options of the key in authorized_keys',
  },
  'ssh-no-forwarding': {
    sentence: 'the host does not forward ports',
    remedy: 'allow it with AllowTcpForwarding in its sshd_config',
  },
  'ssh-other-host': {
    sentence: 'another machine answers at the address',
    remedy: 'find out which machine has that address now',
  },
  'ssh-unreachable': {
    sentence: 'the host cannot be reached',
    remedy: 'check that the machine is on and that ssh to it works',
  },
  'sudo-password': {
    sentence: 'the sudo password is missing or wrong',
    remedy: 'set the correct one in IRONSTAGE_SUDO_PASSWORD',
  },
  'sudo-refused': {
    sentence: 'sudo does not allow the user to work as root',
    remedy: 'log in as root, or allow the user to run /bin/sh with sudo',
  },
  'sudo-silent': {
    sentence: 'sudo does not answer',
    remedy: 'check that sudo true works on the target',
  },
  'target-file': {
    sentence: 'a file of the target cannot be read or written',
    remedy: 'check the file and its permissions',
  },
  'target-full': {
    sentence: 'the target has no space left',
    remedy: 'free memory on the target, and space in its /run',
  },
  'target-rebooted': {
    sentence: 'the target rebooted while a command was running',
    remedy: 'start again: the programs that ran there are gone',
  },
  'target-says-too-much': {
    sentence: 'the target sends more output than the limit',
    remedy: 'check what a login prints, also in ~/.bashrc, ~/.profile and /etc/profile.d',
  },
  'target-shell': {
    sentence: 'the login shell of the target does not run scripts',
    remedy: 'check what a login prints; /bin/sh must exist',
  },
  'target-unusable': {
    sentence: 'the target has no folder for the programs that run there',
    remedy: 'free space, or make one of /run, /dev/shm and /tmp writable',
  },
  'too-much-output': {
    sentence: 'a program printed more than the limit',
    remedy: 'check what it prints on the target',
  },
  unguarded: {
    sentence: 'the target cannot confine a command to the named disk',
    remedy: 'run as root on a Linux with namespaces and util-linux, or use --allow unguarded',
  },
  'unknown-run': {
    sentence: 'the target has no record of the run',
    remedy: 'start again',
  },
  upload: {
    sentence: 'a file changed or could not be read during the upload',
    remedy: 'do not change the file during the upload',
  },
  'zero-byte': {
    sentence: 'an argument of a program contains a zero byte',
    remedy: 'remove the zero byte',
  },
})
