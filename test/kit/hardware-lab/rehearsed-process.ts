import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunReport } from '../../../apps/hardware-lab/index.js'
import { IRONSTAGE } from '../commands/up-process.js'
import { hostsYaml } from './hosts-yaml.js'

/** A rehearsal by the built command. */
export interface RehearsedLab {
  code: number | null
  /** Hosts that were installed, and boot. */
  ok: number
  /** Milliseconds from the start of the process to its end. */
  took: number
  /** The most physical memory that the process had, in MiB. */
  memory: number
}

/** Rehearses a lab of so many hosts in a process of its own. */
export async function rehearsedLab(hosts: number, parallel: number): Promise<RehearsedLab> {
  const folder = await mkdtemp(join(tmpdir(), 'ironstage-rehearsed-lab-'))
  try {
    const file = join(folder, 'hosts.yaml')
    await writeFile(join(folder, 'node.ign'), '{"ignition":{"version":"3.4.0"}}')
    await writeFile(file, hostsYaml(hosts))
    const since = performance.now()
    const argv = [IRONSTAGE, 'run', file, '--rehearse', '--parallel', String(parallel), '--json']
    const child = spawn(process.execPath, argv, {
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let last = ''
    child.stdout.on('data', (bytes: Buffer) => (last = `${last}${bytes.toString()}`.split('\n').slice(-2).join('\n')))
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve)
    })
    let isOver = false
    let memory = 0
    const watching = (async () => {
      while (!isOver) {
        const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '')
        memory = Math.max(memory, Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024)
        await sleep(20)
      }
    })()
    const code = await ended
    isOver = true
    await watching
    const report = JSON.parse(last) as RunReport
    const ok = report.hosts.filter(({ outcome }) => outcome === 'ok').length
    return { code, ok, took: performance.now() - since, memory }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
