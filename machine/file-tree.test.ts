import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MemoryFileTree, normalPath, type TreeNode } from './file-tree.js'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (content: Uint8Array) => new TextDecoder().decode(content)

const BASE = new Map<string, TreeNode>([
  ['/etc', { kind: 'directory', mode: 0o755 }],
  ['/etc/hostname', { kind: 'file', mode: 0o644, bytes: bytes('live\n') }],
  ['/dev', { kind: 'directory', mode: 0o755 }],
  ['/dev/sda', { kind: 'file', mode: 0o660, bytes: bytes('') }],
  ['/dev/by', { kind: 'link', target: '/dev/sda' }],
  ['/loop', { kind: 'link', target: '/loop' }],
])
const tree = () => new MemoryFileTree(() => BASE)

describe('the files of a ramdisk', () => {
  test('are those of the image until a program changes them', () => {
    const files = tree()
    expect(files.list('/')).toEqual(['dev', 'etc', 'loop'])
    files.write('/etc/hostname', bytes('mine\n'))
    files.write('/var/a/b', bytes('x'), { mode: 0o600 })
    expect(text(files.read('/etc/hostname'))).toBe('mine\n')
    expect(files.stat('/var/a/b')).toEqual({ kind: 'file', mode: 0o600, size: 1 })
    expect(files.list('/var')).toEqual(['a'])
    files.remove('/etc')
    expect(files.exists('/etc/hostname')).toBe(false)
    expect(text(tree().read('/etc/hostname'))).toBe('live\n')
  })

  test('are read through links, and removing a link leaves its target', () => {
    const files = tree()
    files.write('/dev/by', bytes('x'))
    expect(text(files.read('/dev/sda'))).toBe('x')
    expect(files.link('/dev/by')).toBe('/dev/sda')
    files.remove('/dev/by')
    expect(files.list('/dev')).toEqual(['sda'])
  })

  test.each([
    ['reading what is not there', () => tree().read('/nope'), 'ENOENT'],
    ['reading a folder', () => tree().read('/etc'), 'EISDIR'],
    ['listing a file', () => tree().list('/etc/hostname'), 'ENOTDIR'],
    ['writing over a folder', () => tree().write('/etc', bytes('')), 'EISDIR'],
    ['writing below a file', () => tree().write('/etc/hostname/x', bytes('')), 'ENOTDIR'],
    ['removing what is not there', () => tree().remove('/nope'), 'ENOENT'],
    ['a link in a circle', () => tree().read('/loop'), 'ELOOP'],
  ])('%s fails', (_, act, code) => {
    expect(act).toThrow(expect.objectContaining({ code }))
  })

  test('are found by any path that the kernel resolves', () => {
    expect(normalPath('//a/./b/../c/')).toBe('/a/c')
    expect(normalPath('/..')).toBe('/')
  })
})

test('recorded changes over the same image give the same tree', () => {
  const path = fc.constantFrom('/etc/hostname', '/etc', '/dev/sda', '/a', '/a/b', '/a/b/c', '/d/e')
  const action = fc.oneof(
    fc.record({ do: fc.constant('write' as const), path, content: fc.string({ maxLength: 4 }) }),
    fc.record({ do: fc.constant('mkdir' as const), path }),
    fc.record({ do: fc.constant('remove' as const), path }),
  )
  const everything = (files: MemoryFileTree, folder = '/'): string[] =>
    files.list(folder).flatMap((name) => {
      const at = folder === '/' ? `/${name}` : `${folder}/${name}`
      // Links in a circle, or to a removed path.
      if (at === '/loop' || !files.exists(at)) return [at]
      return files.stat(at).kind === 'directory' ? [at, ...everything(files, at)] : [`${at}=${text(files.read(at))}`]
    })

  fc.assert(
    fc.property(fc.array(action, { maxLength: 20 }), (actions) => {
      const recorded = new Map<string, TreeNode | undefined>()
      const files = new MemoryFileTree(
        () => BASE,
        [],
        (at, node) => recorded.set(at, node),
      )
      for (const act of actions) {
        try {
          if (act.do === 'write') files.write(act.path, bytes(act.content))
          else if (act.do === 'mkdir') files.mkdir(act.path)
          else files.remove(act.path)
        } catch (error) {
          expect(error).toHaveProperty('code')
        }
      }
      expect(everything(new MemoryFileTree(() => BASE, recorded))).toEqual(everything(files))
    }),
  )
})
