import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Shells of live systems, as far as they are installed here. */
const SHELLS = ['/bin/sh', '/bin/bash', '/usr/bin/busybox sh'].filter((shell) => existsSync(shell.split(' ')[0]!))

/**
 * Runs a script in each shell with `folder` as its first argument, and returns what each prints. A small process starts
 * them, one after another: to start one from this process, with all its memory, takes longer than most scripts run.
 */
export function inShells(script: string, folder: string): { stdout: string; stderr: string }[] {
  const runs = SHELLS.map((shell, n) => `${shell} -c "$1" test "$2" >"$2/stdout-${n}" 2>"$2/stderr-${n}"`)
  const { error } = spawnSync('/bin/sh', ['-c', runs.join('\n'), 'sh', script, folder])
  if (error) throw error
  const printed = (stream: 'stdout' | 'stderr', n: number): string =>
    readFileSync(join(folder, `${stream}-${n}`), 'utf8')
  return SHELLS.map((_, n) => ({ stdout: printed('stdout', n), stderr: printed('stderr', n) }))
}
