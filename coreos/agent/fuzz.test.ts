import fc from 'fast-check'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { parseIni, UserError } from '../../base/runtime/index.js'
import { agentConfig } from './agent-config.js'
import { agentOf } from './agent-in-config.js'
import { renderIgnition, type SpecConfig } from '../../ignition/index.js'
import { writtenFiles } from './written-files.js'
import { anyCharacter } from '../../test/kit/code-points.js'
import { agentOptions } from '../../test/kit/commands/agent-config-options.js'

const CONF = '/etc/ironic-python-agent.conf'

const unit = (contents: string): SpecConfig => ({
  ignition: { version: '3.2.0' },
  systemd: {
    units: [{ name: 'a@b.service', enabled: true, contents: `${contents}\n[Install]\nWantedBy=multi-user.target\n` }],
  },
})

/** Parts of units and command lines, and texts that could confuse a parser of them. */
const piece = fc.oneof(
  fc.constantFrom(
    ...['[Service]', '[', ']', 'ExecStart=', 'ExecStartPre=', 'Environment=', 'EnvironmentFile=', 'Restart=always'],
    ...[
      'RestartSec=',
      '\n',
      ' ',
      '\\\n',
      '\\',
      '"',
      "'",
      '$',
      '${',
      '}',
      '$A',
      '${A}',
      '%',
      '%n',
      '%%',
      '=',
      '#',
      ';',
      '\0',
    ],
    ...[
      'A=${A}',
      '/bin/podman run',
      'podman pull',
      '--mount type=bind,src=',
      `,dst=/etc/ironic-python-agent/a.conf`,
      CONF,
    ],
    ...[
      '--env',
      '-e',
      '-v',
      '-',
      '--',
      '--authfile',
      'constructor',
      '__proto__',
      'ironic-agent',
      '-dit',
      'x/y:z@s',
      'toString',
    ],
  ),
  fc.string({ maxLength: 8 }),
)

describe('reading what starts the agent', () => {
  test('any text of a unit can be read', () => {
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 60 }),
        fc.string({ unit: anyCharacter, maxLength: 60 }),
        (pieces, conf) => {
          const found = agentOf(unit(pieces.join('')), (path) => (path === CONF ? Buffer.from(conf) : undefined))
          const texts = Object.values(found?.environment ?? {})
          expect(texts.filter((text) => typeof text !== 'string')).toEqual([])
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('a damaged config is read as far as possible', () => {
    fc.assert(
      fc.property(agentOptions, fc.nat(), fc.nat(), piece, (options, at, cut, more) => {
        const config = agentConfig(options)
        const [only] = config.systemd!.units!
        const text = only!.contents!
        const start = at % text.length
        const contents = `${text.slice(0, start)}${more}${text.slice(start + (cut % 20))}`
        const found = agentOf({ ...config, systemd: { units: [{ ...only!, contents }] } })
        if (found) expect(found.image).not.toBe('')
      }),
      { numRuns: 60 },
    )
  })

  test.each<[string, string]>([
    ['blanks in a key', `[Service]\nA${' '.repeat(200_000)}b`],
    ['blanks in front of nothing', `[Service]\nExecStart=podman run${' '.repeat(200_000)}`],
    ['many settings of one name', `[Service]\n${'Environment=A=b\n'.repeat(50_000)}`],
    ['a line continued many times', `[Service]\nExecStart=podman run ${'\\\n a'.repeat(50_000)}`],
    ['many signs in a name', `[Service]\nExecStart=podman run ${'a:@'.repeat(70_000)}/`],
    [
      'a value that is inserted many times',
      `[Service]\nEnvironment=A=${'x'.repeat(100_000)}\nExecStart=podman run ${'$A ${A}'.repeat(5000)}`,
    ],
    ['quotes that never close', `[Service]\nExecStart=podman run ${'"\\'.repeat(100_000)}`],
    ['numbers of a time', `[Service]\nRestartSec=${'1 '.repeat(50_000)}x\nExecStart=podman run ironic-agent`],
  ])('%s costs no more than its length', (_, contents) => {
    const before = performance.now()
    agentOf(unit(contents))
    // A reader that tries every end of every word would take minutes.
    expect(performance.now() - before).toBeLessThan(5000)
  })

  test('a file that decompresses to more than a MiB counts as missing, however often it is mounted', () => {
    const bomb = `data:;base64,${gzipSync(Buffer.alloc(2 ** 26)).toString('base64')}`
    const config: SpecConfig = {
      ...unit(`[Service]\nExecStart=podman run ${`-v ${CONF}:/etc/ironic-python-agent/a.conf `.repeat(500)} x/y`),
      storage: { files: [{ path: CONF, contents: { source: bomb, compression: 'gzip' } }] },
    }
    const before = performance.now()
    expect(agentOf(config)!.missingFiles).toContain(CONF)
    expect(performance.now() - before).toBeLessThan(5000)
    expect(writtenFiles(config)('/elsewhere')).toBeUndefined()
  })

  test('settings with many blanks are refused in time', () => {
    const before = performance.now()
    const text = `[DEFAULT]\na${' '.repeat(300_000)}b`
    expect(() => parseIni({ name: 'a.conf', text }, { code: 'agent-config-file', example: 'a = b' })).toThrow(
      'is not a setting',
    )
    expect(performance.now() - before).toBeLessThan(5000)
  })
})

describe('following what configs refer to', () => {
  test('any web of references ends in a config or an error, after a limited number of fetches', async () => {
    const web = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 8, maxLength: 8 })
    const reference = (index: number) => ({ source: `http://h/${index}` })
    await fc.assert(
      fc.asyncProperty(web, fc.nat(7), async (references, replacing) => {
        let fetched = 0
        const text = (index: number) =>
          JSON.stringify({
            ignition: {
              version: '3.4.0',
              config:
                index === replacing && references[index]!.length > 0
                  ? { replace: reference(references[index]![0]!) }
                  : { merge: [...new Set(references[index])].map(reference) },
            },
          })
        const rendered = await renderIgnition(text(0), ({ source }) => {
          fetched++
          return Promise.resolve(Buffer.from(text(Number(source!.split('/').at(-1)))))
        }).catch((error: unknown) => error)
        if (rendered instanceof Error) expect(rendered).toMatchObject({ name: UserError.name, code: 'ignition-cycle' })
        expect(fetched).toBeLessThanOrEqual(1000)
      }),
      { numRuns: 60 },
    )
  })
})
