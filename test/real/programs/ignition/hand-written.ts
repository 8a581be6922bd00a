import { RULES, inside } from './hand-written-rules.js'

/** Texts that are hardly configs: broken JSON, wrong types at the top, odd versions. */
const SHAPES = [
  ...[
    '',
    ' ',
    '\n',
    'null',
    'true',
    '"x"',
    '3',
    '[]',
    '{}',
    '[{}]',
    '{',
    '[',
    '"',
    '{"a" 1}',
    '{"a":tru}',
    '{"a":nul',
    'é',
  ],
  ...[
    '{"a":1,}',
    '[1,]',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":1}}',
    '[1 2]',
    '01',
    '-',
    '-a',
    '1.',
    '1.x',
    '1e',
    '1e+',
    '.5',
    '+1',
    '0x1',
  ],
  ...[
    '"\\x"',
    '"\\u12g4"',
    '"\t"',
    '"\n"',
    '{"a":"é\n"}',
    "{'a':1}",
    '{"a":1}\n\n  x',
    '\ufeff{}',
    '{"a":1}//',
    'tru',
    '"\\',
    '"\\u1',
  ],
  ...[
    '{"ignition":null}',
    '{"ignition":3}',
    '{"ignition":[]}',
    '{"ignition":"3.4.0"}',
    '{"ignition":{"version":3}}',
    '{"ignition":{"version":{}}}',
  ],
  ...[
    '{"ignition":{"version":null}}',
    '{"ignition":{}}',
    '{"Ignition":{"VERSION":"3.0.0"}}',
    '{"iGNITION":{"Verſion":"3.1.0"}}',
  ],
  '{"ignition":{"version":"3.0.0"},"ignition":{"version":"3.4.0"}}',
  '{"ignition":{"version":"3.4.0"},"Ignition":{"version":3}}',
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a","mode":420},{"path":"/c"}]},"storage":{"files":[{"path":"/b"}]}}',
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a","path":1}]}}',
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":1,"path":"/a"}]}}',
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"a"}]},"STORAGE":{"files":[{"path":"b"},{"path":"b"}]}}',
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a"}]},"storage":null}',
  '{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/a"}],"files":null}}',
  ...[
    '3',
    '3.0',
    '3.0.0.0',
    '3.9.0',
    '2.3.0',
    '2.2.0-dev',
    '1',
    '4.0.0',
    '03.4.0',
    '3.4.00',
    '3.4.0-',
    '3.4.0+',
    '3.4.0-+',
    '3.4.0+a',
  ],
  ...[
    '3.4.0-experimental',
    '3.6.0-experimental',
    '3.7.0-experimental',
    '3.8.0-experimental',
    '3.7.0',
    'v3.4.0',
    ' 3.4.0',
    '3.4.0 ',
    '3.4.0-a..b',
  ],
  ...['+3.4.0', '-3.4.0', '3.4.99999999999999999999', '3.4.x', '', 'x', '3..0', '3.4.0-ü', '3.4.0-01'],
].map((text) =>
  text === '' ||
  !/^[-+v 0-9.x]|^$/.test(text) ||
  /^(3|01|-|-a|1\.|1\.x|1e|1e\+|\.5|\+1|0x1)$/.test(text) ||
  text === ' '
    ? text
    : inside({}, text),
)

/** Values of every wrong type, at places of every kind. */
const TYPES = ['null', 'true', '3', '3.5', '"x"', '[]', '{}', '[null]', '[3]', '[[]]', '[{}]', '{"a":1}'].flatMap(
  (value) =>
    [
      ...['{"ignition":X}', '{"ignition":{"version":X}}', '{"ignition":{"version":"3.4.0"},"storage":X}'],
      ...[
        '"proxy":X',
        '"config":X',
        '"config":{"merge":X}',
        '"config":{"replace":X}',
        '"security":{"tls":X}',
        '"timeouts":{"httpTotal":X}',
        '"proxy":{"noProxy":X}',
      ].map((part) => `{"ignition":{"version":"3.4.0",${part}}}`),
      ...[
        '"files":X',
        '"files":[X]',
        '"files":[{"path":X}]',
        '"files":[{"mode":X}]',
        '"files":[{"contents":X}]',
        '"files":[{"contents":{"httpHeaders":X}}]',
        '"files":[{"user":X}]',
      ],
      ...[
        '"disks":[{"partitions":X}]',
        '"disks":[{"partitions":[{"number":X}]}]',
        '"raid":[{"devices":X}]',
        '"raid":[{"options":[X]}]',
        '"filesystems":[{"options":X}]',
        '"filesystems":[{"wipeFilesystem":X}]',
      ],
      ...[
        '"luks":[{"clevis":X}]',
        '"luks":[{"clevis":{"custom":X}}]',
        '"luks":[{"clevis":{"tang":X}}]',
        '"luks":[{"keyFile":X}]',
        '"links":[{"hard":X}]',
        '"links":[{"target":X}]',
        '"directories":X',
      ],
    ].flatMap((place) =>
      place.startsWith('{')
        ? [place.replace('X', value)]
        : ['3.0.0', '3.2.0', '3.6.0'].map(
            (version) => `{"ignition":{"version":"${version}"},\n "storage":{ ${place.replace('X', value)} }}`,
          ),
    ),
)

export const HAND_WRITTEN: readonly string[] = [...SHAPES, ...RULES, ...TYPES]
