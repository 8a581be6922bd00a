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
