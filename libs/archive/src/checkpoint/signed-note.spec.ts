import { describe, expect, it } from '@jest/globals';
import { generateSigningKey, InvalidNote, openNote, parsePublicKey, parseSigningKey } from './signed-note.js';

describe('signed notes', () => {
  it('verifies the example of c2sp.org/signed-note', () => {
    const key = parsePublicKey('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k');
    const note =
      'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';
    expect(openNote(note, [key])).toBe('This is an example message.\n');
    expect(() => openNote(note.replace('example message', 'other message'), [key])).toThrow('the signature of example.com/foo is wrong');
  });

  it('verifies and makes the notes of golang.org/x/mod/sumdb/note', () => {
    // Keys of PeterNeumann from the documentation of Go's note package.
    const signer = parseSigningKey('PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz');
    expect(signer.publicKey).toBe('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    const text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    const note = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;
    expect(signer.sign(text)).toBe(note);
    expect(openNote(note, [parsePublicKey(signer.publicKey)])).toBe(text);
  });

  it('verifies a signed note by a known key among unknown ones, and by no other', () => {
    const [one, two] = [parseSigningKey(generateSigningKey('one')), parseSigningKey(generateSigningKey('two'))];
    const note = one.sign('text\n') + two.sign('text\n').split('\n\n')[1];
    expect(openNote(note, [parsePublicKey(two.publicKey)])).toBe('text\n');
    expect(() => openNote(note, [])).toThrow('no known key signed it; signed by one, two');
    expect(() => openNote(note, [parsePublicKey(parseSigningKey(generateSigningKey('one')).publicKey)])).toThrow(InvalidNote);
  });

  it.each(['', 'text', 'text\n\n', 'te\u0000xt\n\n— one AAAAAAA=\n', 'text\n\n- one AAAAAAA=\n', 'text\n\n— one AAAAAAB=\n'])(
    'refuses %j as a signed note',
    (note) => {
      expect(() => openNote(note, [])).toThrow(InvalidNote);
    },
  );

  it.each(['x', 'PRIVATE+KEY+PeterNeumann+c74f20a4+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz'])(
    'refuses the signing key %s without repeating any of it',
    (key) => {
      expect(() => parseSigningKey(key)).toThrow(InvalidNote);
      expect(() => parseSigningKey(key)).not.toThrow(/AYEKF/);
    },
  );
});
