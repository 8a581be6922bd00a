import { describe, expect, test } from 'vitest'
import { agentOf } from './agent-in-config.js'
import { dataUrl, readIgnition, type SpecConfig } from '../../ignition/index.js'

const CONF = '/etc/ironic-python-agent.conf'
const MOUNT = `--mount type=bind,src=${CONF},dst=/etc/ironic-python-agent/ignition.conf`

/** Unit as image-customization-controller writes it today. */
const todays = (extra = '') => `[Unit]
Description=Ironic Agent
After=network-online.target
Wants=network-online.target
[Service]
Environment="HTTP_PROXY=http://proxy.example:3128"
Environment="HTTPS_PROXY="
Environment="NO_PROXY=.example,10.0.0.0/8"
TimeoutStartSec=0
Restart=on-failure
RestartSec=5
StartLimitIntervalSec=0
Type=notify
ExecStartPre=/bin/rm -f %t/%n.ctr-id
ExecStart=/bin/podman run --detach --cgroups=no-conmon --sdnotify=conmon --rm --cidfile=%t/%n.ctr-id --privileged --network host ${MOUNT} --mount type=bind,src=/dev,dst=/dev --ipc=host --uts=host --env "IPA_COREOS_IP_OPTIONS=ip=dhcp6 rd.neednet=1" --env IPA_COREOS_COPY_NETWORK=true --env "IPA_DEFAULT_HOSTNAME=master-0"  --authfile=/etc/authfile.json --name ironic-agent registry.example/agent@sha256:0123${extra}
ExecStop=/usr/bin/podman stop --ignore --cidfile=%t/%n.ctr-id
[Install]
WantedBy=multi-user.target
`

/** The first template, of the design document. */
const original = `[Unit]
After=network-online.target

[Service]
TimeoutStartSec=0
ExecStartPre=/bin/podman pull registry.example:5000/ironic-agent --tls-verify=false
ExecStart=/bin/podman run --privileged --network host ${MOUNT} --mount type=bind,src=/,dst=/mnt/coreos --name ironic-agent ironic-agent

[Install]
WantedBy=multi-user.target
`

const settings = '\n[DEFAULT]\napi_url = http://192.0.2.1:6385,https://[2001:db8::1]:6385\ninspection_callback_url = \n'

const config = (contents: string, { files = [], unit = {} }: { files?: object[]; unit?: object } = {}): SpecConfig =>
  readIgnition({
    ignition: { version: '3.2.0' },
    storage: { files: [{ path: CONF, mode: 0o644, contents: { source: dataUrl(settings) } }, ...files] },
    systemd: { units: [{ name: 'ironic-agent.service', enabled: true, contents, ...unit }] },
  }).config

const auth = { path: '/etc/authfile.json', contents: { source: 'data:;base64,e30=' } }

describe('the agent that a config starts', () => {
  test("today's form: image, pull secret, settings, environment, restarts", () => {
    const agent = agentOf(config(todays(), { files: [auth] }))!
    expect(agent).toMatchObject({
      unit: 'ironic-agent.service',
      image: 'registry.example/agent@sha256:0123',
      pull: {
        image: 'registry.example/agent@sha256:0123',
        before: false,
        authFile: '/etc/authfile.json',
        tlsVerify: true,
        proxies: { HTTP_PROXY: 'http://proxy.example:3128', NO_PROXY: '.example,10.0.0.0/8' },
      },
      environment: {
        IPA_COREOS_IP_OPTIONS: 'ip=dhcp6 rd.neednet=1',
        IPA_COREOS_COPY_NETWORK: 'true',
        IPA_DEFAULT_HOSTNAME: 'master-0',
      },
      missingFiles: [],
      restart: { when: 'on-failure', delay: 5000 },
    })
    expect(agent.options).toMatchObject({
      api_url: 'http://192.0.2.1:6385,https://[2001:db8::1]:6385',
      inspection_callback_url: '',
      // From the defaults in the image itself.
      inspection_collectors: 'default,logs',
    })
    expect(agent.configFiles.map(({ name }) => name)).toEqual(['00-defaults.conf', 'ignition.conf'])
  })

  test('the original form pulls from a registry first, and runs by the short name', () => {
    expect(agentOf(config(original))).toMatchObject({
      image: 'ironic-agent',
      pull: { image: 'registry.example:5000/ironic-agent', before: true, authFile: null, tlsVerify: false },
      restart: { when: 'no' },
    })
  })

  test('a missing file that is mounted or named keeps the container from starting', () => {
    expect(agentOf(config(todays()))!.missingFiles).toEqual(['/etc/authfile.json'])
    const elsewhere = config(original.replace(`src=${CONF}`, 'src=/etc/ipa.conf'))
    expect(agentOf(elsewhere)).toMatchObject({ missingFiles: ['/etc/ipa.conf'] })
    expect(agentOf(elsewhere)!.options).not.toHaveProperty('api_url')
  })

  test('the environment overrides files, the command line overrides both', () => {
    const unit = todays(' --api-url http://198.51.100.1:6385 --insecure').replace(
      '--ipc=host',
      '--ipc=host -e OS_DEFAULT__INSPECTION_CALLBACK_URL=http://192.0.2.9/ -e OS_DEFAULT__API_URL=http://192.0.2.8',
    )
    expect(agentOf(config(unit))!.options).toMatchObject({
      api_url: 'http://198.51.100.1:6385',
      inspection_callback_url: 'http://192.0.2.9/',
      insecure: 'True',
    })
  })

  test.each([
    [
      'quotes and a path of its own',
      `ExecStart=-"/usr/bin/podman" run -dit --rm -v '${CONF}:/etc/ironic-python-agent/a.conf:ro' x/y`,
    ],
    ['continued lines', `ExecStart=/bin/podman run \\\n# a remark\n  ${MOUNT} \\\n  x/y`],
    ['the image from a variable', `Environment=IMAGE=x/y\nExecStart=/bin/podman run ${MOUNT} \${IMAGE}`],
    ['options from a variable', `Environment="OPTIONS=--rm ${MOUNT}"\nExecStart=/bin/podman run $OPTIONS x/y`],
    ['an earlier command that is cleared', `ExecStart=/bin/true\nExecStart=\nExecStart=/bin/podman run ${MOUNT} x/y`],
    ['podman with options of its own', `ExecStart=/bin/podman --log-level=debug run ${MOUNT} x/y`],
    ['podman container run', `ExecStart=/bin/podman container run ${MOUNT} x/y`],
  ])('is found in a unit with %s', (_, service) => {
    const agent = agentOf(config(`[Service]\n${service}\n[Install]\nWantedBy=multi-user.target\n`))
    expect(agent).toMatchObject({ image: 'x/y', options: { api_url: expect.stringContaining('192.0.2.1') } })
  })

  test('drop-ins change a unit, in the order of their names', () => {
    const dropin = (name: string, image: string) => ({
      name,
      contents: `[Service]\nExecStart=\nExecStart=/bin/podman run ${MOUNT} ${image}\n`,
    })
    const dropins = [dropin('20-b.conf', 'x/b'), dropin('10-a.conf', 'x/a')]
    expect(agentOf(config(todays(), { unit: { dropins } }))!.image).toBe('x/b')
  })

  test('the unit itself may be a file', () => {
    const file = { path: '/etc/systemd/system/ironic-agent.service', contents: { source: dataUrl(original) } }
    expect(agentOf(config('', { files: [file], unit: { contents: null } }))!.image).toBe('ironic-agent')
  })

  test.each([
    ['is masked', todays(), { mask: true }],
    ['is not enabled', todays(), { enabled: false }],
    ['no other unit wants', todays().replace(/\[Install\][^]*/, ''), {}],
    ['runs another container', todays().replaceAll(MOUNT, '').replace('ironic-agent.service', 'x'), {}],
    [
      'has podman in a script',
      todays().replace('ExecStart=/bin/podman', 'ExecStart=/bin/sh -c "/bin/podman').replace(/0123$/m, '0123"'),
      {},
    ],
    ['runs no container', '[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n', {}],
  ])('is not found in a unit that %s', (_, contents, unit) => {
    expect(agentOf(config(contents, { unit }))).toBeUndefined()
  })

  test('is not found in a config without units', () => {
    expect(agentOf({ ignition: { version: '3.0.0' } })).toBeUndefined()
  })

  test('the caller can pass a lookup for fetched files', () => {
    const text = Buffer.from('[DEFAULT]\napi_url = http://192.0.2.77:6385\n')
    expect(agentOf(config(original), (path) => (path === CONF ? text : undefined))!.options).toMatchObject({
      api_url: 'http://192.0.2.77:6385',
    })
  })
})
