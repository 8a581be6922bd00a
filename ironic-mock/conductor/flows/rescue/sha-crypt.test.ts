import { expect, test } from 'vitest'
import { shaCrypt } from './sha-crypt.js'

// As crypt(3) of glibc says.
test.each([
  ['Hello world!', 'saltstring', '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5'],
  ['secret', 'abcdefgh12345678', '$5$abcdefgh12345678$Ec9ApvlEbRtyT.vGEiMhIn2fC8CoUfIQPVf4Ze8zXI/'],
  ['', 'x', '$5$x$yHbtfs4Y8t6X1xcJemNX.4JQRfUTafA2qQenWGLBee2'],
  ['a'.repeat(70), 'Zz./09', '$5$Zz./09$xdsfH/Lpzhi4yBtmK4n4W3H09C0T9n8uubLlSxiTVR8'],
  ['pässwörd', 'saltsalt', '$5$saltsalt$JUyX9J5pA1EE4ZvGcIA.vpwPCUQ8GlJbo51r7M84au8'],
])('%s with the salt %s', (password, salt, hash) => {
  expect(shaCrypt(password, salt)).toBe(hash)
})

test.each([
  [
    'Hello world!',
    'saltstring',
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
  ],
  [
    'secret',
    'abcdefgh12345678',
    '$6$abcdefgh12345678$8qry.al/7S2fAQnDPL..k3GVAXostN0YvxqwHlKr6Jsf/74.qDax5ahH0CISuJF.P2fnhZoX0.4l8IwZUur9t1',
  ],
  ['', 'x', '$6$x$QSmr1Bx2g4O6BzKvdkgOcyU6H91X6I/XBv5pSalMhSPkwdH6Beo3F455xZJg0v//bxVK5F4OE5k1.0xuR26MK0'],
  [
    'a'.repeat(130),
    'Zz./09',
    '$6$Zz./09$j./T8fSGmW4S8X/MqxeX3UVyPax6b7DeJ2gBXDRG9QY3V9xqw5/fyy9Pw0A0eEUgE2k2xhVbd6/Ud4Zgh6ynH0',
  ],
  [
    'pässwörd',
    'saltsalt',
    '$6$saltsalt$TQjRhpJdqmLx0U8it3EsUajwkmOMMvw5vhUFc7mohzFFoj/QHrfYUHU1oSkwyCEoTUCDOiAOW135nel3bqtKe.',
  ],
])('by SHA-512: %s with the salt %s', (password, salt, hash) => {
  expect(shaCrypt(password, salt, 'sha512')).toBe(hash)
})
