import { readFileSync } from 'node:fs'

/** Identifies the present boot of this host; empty where the kernel does not name it. */
export function hostBoot(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}
