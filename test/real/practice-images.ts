import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { REHEARSAL_IMAGE } from '../../lab/index.js'

const SERVER = fileURLToPath(new URL('./peers/practice-images.mjs', import.meta.url))

/** Starts a process that serves the rehearsal image in several ways: see peers/practice-images.mjs. */
export async function practiceImages(folder: string) {
  const server = spawn(process.execPath, [SERVER, REHEARSAL_IMAGE, folder], { stdio: 'inherit' })
  await fileAppears(join(folder, 'port'))
  const port = await readFile(join(folder, 'port'), 'utf8')
  return {
    url: (behaviour: string): string => `http://127.0.0.1:${port}/${behaviour}`,
    [Symbol.dispose]: () => void server.kill(),
  }
}

/** Resolves when a file is there. */
export async function fileAppears(path: string): Promise<void> {
  while (!existsSync(path)) await new Promise((resolve) => setTimeout(resolve, 20))
}
