/** Keys of a hosts file, by the option of other commands that says the same. */
export const KEYS_OF_OPTIONS: Readonly<Record<string, string>> = {
  '--allow': 'allow',
  '--device': 'disk',
  '--host-key': 'ssh.host-keys',
  '--installer': 'installer',
  '--steps': 'step-files',
  '--target-is-disposable': 'target-is-disposable',
  '--verify-boot': 'verify-boot',
  '--yes-erase': 'disk',
}

/** A message or remedy for a command of one target, with the keys of a hosts file in place of its options. */
export function withKeysOfFile(text: string): string {
  const keyed = text.replace(/(?<![\w-])--[a-z-]*[a-z]/g, (option) => KEYS_OF_OPTIONS[option] ?? option)
  return keyed === text ? text : `${keyed} (keys of the hosts file)`
}
