import { describe, expect, test } from 'vitest'
import { createStagedLab, installCoreos } from '../../../lab/index.js'
import { escapeHtml, markup, htmlPage } from '../../../report/index.js'
import { LabClient } from '../../../control/index.js'

/** Texts that would do something where a page took them for HTML. */
const ATTACKS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  '</style><script>alert(1)</script>',
  '</pre></details><iframe src=javascript:alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<!--<script>',
  ']]><script>alert(1)</script>',
  '&lt;script&gt;',
  '{{constructor.constructor("alert(1)")()}}',
  '${alert(1)}',
  '\u202e<b>gpj.exe',
  '\u0000<script\u0000>alert(1)</script>',
  '\ud800<script>',
] as const

/** Tags that the source of a page has itself. */
const OWN =
  /<\/?(?:html|head|meta|title|style|body|main|section|h[1-3]|p|b|small|code|pre|dl|dt|dd|ol|ul|li|i|span|div|svg|rect|table|thead|tbody|tr|th|td|details|summary|br)(?: (?:class|title|lang|charset|name|content|http-equiv|scope|viewBox|preserveAspectRatio|role|aria-label|x|y|width|height|open)(?:="[^"<>]*")?)*>/g

/** Marks of HTML in a page that are no tag of its own. */
const strange = (text: string): string[] =>
  text
    .replaceAll(OWN, '')
    .replace('<!doctype html>', '')
    .match(/<.{0,40}/gs) ?? []

describe('a page', () => {
  test.each(ATTACKS)('shows %j as text, between tags and in attributes', (attack) => {
    const text = htmlPage({
      title: attack,
      body: markup`<p title="${attack}">${attack}</p><pre>${[attack, attack]}</pre>`,
    })
    expect(strange(text)).toEqual([])
    expect(text).toContain(`<p title="${escapeHtml(attack)}">${escapeHtml(attack)}</p>`)
    expect(text).not.toMatch(/[\u0000-\u0008\u202a-\u202e]/)
  })

  test('allows no script and nothing from elsewhere', () => {
    const text = htmlPage({ title: 'one', body: 'two' })
    expect(text).toMatch(
      /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src &#39;sha256-[^"]+"/,
    )
    expect(text).not.toMatch(/<script|https?:\/\/|@import|url\(/)
  })
})

describe('the report of a lab', () => {
  const url = 'http://lab.test'

  async function attackedLab(attack: string) {
    const lab = await createStagedLab({ clock: 'auto' })
    const files = [{ path: '/etc/motd.d/attack', mode: 0o644, contents: { source: 'data:,x' } }]
    const node = await lab.enroll({
      deploySteps: [
        installCoreos({
          ignition: {
            ignition: { version: '3.4.0' },
            storage: { files },
            passwd: { users: [{ name: 'core', passwordHash: '$6$a$secret-hash' }] },
          },
          append_karg: [`x=${attack.replaceAll(/\s/g, '_')}`],
        }),
      ],
    })
    return { lab, node, client: new LabClient(url, { fetch: lab.fetchAt(url) }) }
  }

  test.each(ATTACKS)('shows %j as text wherever it comes from', async (attack) => {
    const { lab, node, client } = await attackedLab(attack)
    await using _ = lab
    lab.faults.add({
      match: { program: 'coreos-installer' },
      effect: { kind: 'exit-code', code: 1, stderr: `Error: ${attack}` },
      label: attack,
    })
    await node.deploy()
    expect((await node.settled()).provision_state).toBe('deploy failed')
    lab.machines.get((await node.machine())!.spec.id)!.say(attack)
    await lab.fetchAt(url)(`${url}/v1/nodes/${encodeURIComponent(attack.replaceAll(/[\ud800-\udfff]/g, '?'))}`)
    for (const text of [await client.report(), await client.report({ node: node.uuid })]) {
      expect(strange(text)).toEqual([])
      expect(text).toContain('deploy failed')
    }
  })

  test('has timeline, steps, causes, disks, Ignition, exchanges and console of a node, without secrets', async () => {
    const { lab, node, client } = await attackedLab('one')
    await using _ = lab
    await node.deploy()
    await node.settled()
    const text = await client.report({ node: node.uuid })
    for (const part of [
      'Timeline',
      'Steps',
      'Disks',
      'Ignition',
      'Exchanges',
      'Console',
      'deploy.install_coreos',
      'EFI-SYSTEM',
    ])
      expect(text, part).toContain(part)
    expect(text).not.toContain('secret-hash')
  })

  test('refuses a node that there is not', async () => {
    const { lab, client } = await attackedLab('one')
    await using _ = lab
    await expect(client.report({ node: 'none' })).rejects.toMatchObject({ code: 'no-such-node', status: 404 })
  })
})
