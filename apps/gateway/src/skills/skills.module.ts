import { Module } from '@nestjs/common';
import { SkillLibrary } from './skill-library.service.js';

@Module({ providers: [SkillLibrary], exports: [SkillLibrary] })
export class SkillsModule {}
