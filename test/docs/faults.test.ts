import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFaults } from '../../control/index.js'
import { effectFacts, FAULT_KINDS, type FaultKind } from '../../control/faults/fault-effects.js'
import { hostsYaml } from '../kit/hardware-lab/hosts-yaml.js'
import { RehearsedRuns } from '../kit/hardware-lab/rehearsed-run.js'
import { seenWith } from '../kit/faults/seen-with.js'
import { liveServers } from '../kit/live-lab.js'

/** Each fault of docs/faults.md is run, and must look as it is shown there. */

const file = new URL('../../docs/faults.md', import.meta.url)
const [effects, downloads] = readFileSync(file, 'utf8').split(/^# Image servers$/m)
const sections = effects!
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [, kind, body, shown] = /^([\w-]+)\n[\s\S]*```json\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```\n/.exec(text)!
    return { kind: kind!, body: body!, shown: shown! }
  })

const ofImages = downloads!
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const [, title, body, shown] = /^([^\n]+)\n[\s\S]*```json\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```\n/.exec(text)!
    return { title: title!, body: body!, shown: shown! }
  })

let servers: Awaited<ReturnType<typeof liveServers>>
beforeAll(async () => {
  servers = await liveServers()
})
afterAll(() => servers[Symbol.asyncDispose]())

/** A node that boots a served live ISO, which runs the agent in a container. */
const containers = () => ({
  open: (options: object) =>
    servers.lab({
      ...options,
      liveImages: {
        files: [{ architecture: 'x86_64', iso: servers.iso }],
        byDefault: true,
        agent: { image: 'registry.example/team/ironic-agent:v1' },
      },
    }),
  fields: { boot_interface: 'redfish-virtual-media' },
  isNew: true,
})

/** A node that boots a served live ISO. */
const live = () => ({
  open: (options: object) => servers.lab(options),
  fields: { boot_interface: 'redfish-virtual-media' },
  isNew: true,
})

describe('docs/faults.md', () => {
  test('has every effect', () => {
    expect(sections.map(({ kind }) => kind).sort()).toEqual([...FAULT_KINDS].sort())
  })

  test('link-cut looks as shown, on a host of a rehearsed run', async () => {
    const { body, shown } = sections.find(({ kind }) => kind === 'link-cut')!
    await using runs = await RehearsedRuns.make(hostsYaml(1).replace('node-1', 'worker-1'))
    const struck: string[] = []
    await runs.open(readFaults(JSON.parse(body), 'link-cut'), (_, text) => {
      if (text.includes('strikes')) struck.push(text)
    })
    const report = await runs.run()
    const seen = report.hosts.map(({ host, outcome }) => `${host}: ${outcome}`)
    expect(`${seen.join('\n')}\nstruck ${struck.length} times\n`).toBe(shown)
  })

  test.each(sections.filter(({ kind }) => effectFacts(kind as FaultKind).only !== 'links'))(
    '$kind looks as shown, is counted, is in the journal, and the node deploys without it',
    async (section) => {
      const { kind, body, shown } = section
      const [fault] = readFaults(JSON.parse(body), kind)
      expect(fault!.effect.kind).toBe(kind)
      const lines = await seenWith(fault!, kind === 'pull-error' ? containers() : {})
      const seen = `${lines.join('\n')}\n`
      expect(seen).toBe(shown)
      expect(seen).toMatch(/^without it: active, power on$/m)
    },
  )

  test.each(ofImages)('the image server fault $title looks as shown', async ({ title, body, shown }) => {
    const [fault] = readFaults(JSON.parse(body), title)
    const lines = await seenWith(
      fault!,
      title.includes('live ISO') ? live() : { image: servers.server.url('/disk.raw') },
    )
    const seen = `${lines.join('\n')}\n`
    expect(seen).toBe(shown)
    expect(seen).toMatch(/^without it: active, power on$/m)
  })
})
