import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { goPeer } from '../../go-peer.js'

/** The answer of the real Ignition about a config, as `ignition-validate` prints it. */
export interface RealAnswer {
  report: string
  /** Null for an accepted config. */
  error: string | null
  /** The parsed config, or the merged one of several; null when one of them is refused. */
  config: object | null
}

const here = import.meta.url.replace('/dist/test/real/', '/test/real/')
const SOURCES = fileURLToPath(new URL('../../peers/ignition', here))

export type AskIgnition = (configs: readonly (readonly (Uint8Array | string)[])[]) => Promise<RealAnswer[]>

/** Ignition 2.26 as a program that answers any number of questions in one run. */
export async function realIgnition(): Promise<AskIgnition> {
  const program = await goPeer(SOURCES)
  return async (configs) => {
    const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    for (const texts of configs)
      child.stdin.write(`${JSON.stringify(texts.map((text) => Buffer.from(text as string).toString('base64')))}\n`)
    child.stdin.end()
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`the program that asks Ignition ended with ${code}`)
    return Buffer.concat(parts)
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as RealAnswer)
  }
}
