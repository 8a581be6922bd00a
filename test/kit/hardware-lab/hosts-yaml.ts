/** A file of some hosts, with an Ignition config beside it. */
export const hostsYaml = (count: number, more = ''): string =>
  [
    'defaults:',
    '  bmc: {username: admin, password: {text: never-used}}',
    '  live: {iso: "http://192.0.2.1/live.iso"}',
    '  ignition: node.ign',
    ...(more === '' ? [] : more.split('\n').map((line) => `  ${line}`)),
    'hosts:',
    ...Array.from({ length: count }, (_, index) => index + 1).flatMap((n) => [
      `  node-${n}:`,
      `    labels: [${n % 2 === 0 ? 'even' : 'odd'}]`,
      `    bmc: {redfish: "https://192.0.2.${n}"}`,
      `    ssh: {address: 198.51.100.${n}}`,
      `    disk: {serial: SERIAL-${n}}`,
    ]),
    '',
  ].join('\n')
