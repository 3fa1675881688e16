import { Module } from '@nestjs/common';
import { SkillLibrary } from './skill-library.service.js';

/** Skills that agents may load. */
@Module({ providers: [SkillLibrary], exports: [SkillLibrary] })
export class SkillsModule {}
