import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sweepTemporaryFolders, temporaryFolder } from './temporary-folder.js'

const folders = async (parent: string) => (await readdir(parent)).filter((name) => !/\.lock(-journal)?$/.test(name))
const newParent = () => mkdtemp(join(tmpdir(), 'parent-'))

test('a temporary folder and its lock go together', async () => {
  const parent = await newParent()
  {
    await using folder = await temporaryFolder(parent)
    await writeFile(join(folder.path, 'file'), 'x')
    expect(await folders(parent)).toHaveLength(1)
  }
  expect(await readdir(parent)).toEqual([])
})

test('a sweep keeps the folders of the living, also of this process', async () => {
  const parent = await newParent()
  await using folder = await temporaryFolder(parent)
  await writeFile(join(folder.path, 'file'), 'x')
  await sweepTemporaryFolders(parent)
  expect(await readdir(folder.path)).toEqual(['file'])
})

const built = new URL('../../../dist/base/runtime/files/temporary-folder.js', import.meta.url).href

/** Starts a process that makes a folder with a file, and then waits. */
async function owner(parent: string) {
  const code = `
    import { writeFileSync } from 'node:fs'
    const { temporaryFolder } = await import(${JSON.stringify(built)})
    const { path } = await temporaryFolder(process.argv[1])
    writeFileSync(path + '/file', 'x')
    process.on('SIGTERM', () => process.exit(3))
    console.log('ready')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return child
}

test('folders are made while another process sweeps without a pause', async () => {
  const parent = await newParent()
  const code = `
    const { sweepTemporaryFolders } = await import(${JSON.stringify(built)})
    console.log('ready')
    for (;;) await sweepTemporaryFolders(process.argv[1])`
  const sweeper = spawn(process.execPath, ['--input-type=module', '-e', code, parent], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void sweeper.kill('SIGKILL'))
  await once(sweeper.stdout, 'data')
  for (let made = 0; made < 100; made++) {
    await using folder = await temporaryFolder(parent)
    await writeFile(join(folder.path, 'file'), 'x')
  }
  expect(await folders(parent)).toEqual([])
})

test('a process that ends by exit deletes its folders; those of one that was killed go with the next sweep', async () => {
  const parent = await newParent()
  const [ending, killed, living] = await Promise.all([owner(parent), owner(parent), owner(parent)])
  expect(await folders(parent)).toHaveLength(3)
  ending.kill('SIGTERM')
  await once(ending, 'exit')
  expect(await folders(parent)).toHaveLength(2)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  expect(await folders(parent)).toHaveLength(2)
  await sweepTemporaryFolders(parent)
  expect(await folders(parent)).toHaveLength(1)
  living.kill('SIGKILL')
  await once(living, 'exit')
  await using folder = await temporaryFolder(parent)
  expect((await readdir(parent)).filter((name) => !folder.path.includes(name.replace(/\.lock.*/, '')))).toEqual([])
})
