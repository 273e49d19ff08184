//! Texture and surface instructions of one thread.

use super::{SimBlock, SimThread};
use crate::int::truncate_bits;
use crate::memory::RecordedAccess;
use crate::texture::position::fixed_point;
use crate::texture::sample::{ColorWords, SamplePoint, SampleSource};
use crate::texture::{BoundTextureObject, SamplerState, TextureObject, surface};
use rtcg_ptx::ast::*;

impl SimThread<'_> {
    pub(super) fn execute_texture(&mut self, block: &mut SimBlock<'_>, inst: &TexInst) -> Result<(), String> {
        match inst {
            TexInst::Sample(tex) => {
                let colour = self.execute_sample(block, tex)?;
                for (dst, word) in tex.dsts.iter().zip(colour) {
                    dst.map_or(Ok(()), |dst| self.write_register(dst, word.into()))?;
                }
                tex.pred.map_or(Ok(()), |p| self.write_register(p, 1))
            }
            TexInst::Query { query, surface, dst, handle, level } => {
                let object = self.object_of_handle(block, handle, *surface)?.object;
                let level = level.as_ref().map_or(Ok(0), |l| self.read_operand(block, l, 32))? as u32;
                let answer = texture_query_value(&object, *query, level)?;
                self.write_register(*dst, answer.into())
            }
            TexInst::IsType { .. } => Err("the oracle does not know istypep".into()),
            TexInst::Load { place, ty, dsts } => {
                let n = ty.bytes() as usize;
                let at = self.surface_address(block, place, n * dsts.len())?;
                for (i, dst) in dsts.iter().enumerate() {
                    let value = match at {
                        Some(at) => self.access_memory(block, at + (i * n) as u64, n, false, None)?,
                        None => 0,
                    };
                    dst.map_or(Ok(()), |dst| self.write_register(dst, value))?;
                }
                Ok(())
            }
            TexInst::Store { place, ty, srcs } => self.execute_surface_store(block, place, *ty, srcs),
            TexInst::Reduce { place, op, ty, src } => {
                let ty = if place.formatted { self.surface_reduction_type(block, place)? } else { *ty };
                let n = ty.bytes() as usize;
                let value = self.read_operand(block, src, ty.bits())?;
                let Some(at) = self.surface_address(block, place, n)? else { return Ok(()) };
                let old = self.access_memory(block, at, n, true, None)?;
                let op = match op {
                    SurfOp::Add => AtomOp::Add,
                    SurfOp::Min => AtomOp::Min,
                    SurfOp::Max => AtomOp::Max,
                    SurfOp::And => AtomOp::And,
                    SurfOp::Or => AtomOp::Or,
                };
                let new = crate::interpreter::warp::apply_atomic_op(op, ty, false, old, value, 0)?;
                self.access_memory(block, at, n, true, Some(new)).map(|_| ())
            }
        }
    }

    /// The object that a handle names.
    fn object_of_handle(
        &self,
        block: &SimBlock<'_>,
        handle: &TextureHandle,
        surface: bool,
    ) -> Result<BoundTextureObject, String> {
        let TextureHandle::Reg(r) = handle else { return Err("the oracle does not know references".into()) };
        let number = self.read_register(*r)? as u64;
        let found = block.grid.objects.iter().find(|o| o.handle == number);
        let found = found.filter(|o| o.object.sampler.is_none() == surface);
        found.copied().ok_or_else(|| format!("there is no such object: {number:#x}"))
    }

    fn operand_words(&self, block: &SimBlock<'_>, operands: &[Operand]) -> Result<Vec<u32>, String> {
        operands.iter().map(|o| Ok(self.read_operand(block, o, 32)? as u32)).collect()
    }

    fn execute_sample(&mut self, block: &mut SimBlock<'_>, tex: &TextureFetch) -> Result<ColorWords, String> {
        let BoundTextureObject { object, address, .. } = self.object_of_handle(block, &tex.texture, false)?;
        let Some(sampler) = object.sampler else { return Err("a surface is sampled".into()) };
        if tex.geometry != object.geometry || tex.sampler.is_some() {
            return Err("a texture is sampled as another shape, or with another sampler".into());
        }
        let float = matches!(tex.dty, Type::F32);
        if float != object.reads_floats() || matches!(tex.dty, Type::F16 | Type::F16x2) {
            return Err("a texture is read as another type: no single result".into());
        }
        let coords = self.operand_words(block, &tex.coords)?;
        let (layer, at) = if tex.geometry.is_layered() { (coords[0], &coords[1..]) } else { (0, &coords[..]) };
        let mut shift = [0; 3];
        for (to, word) in shift.iter_mut().zip(self.operand_words(block, &tex.offsets)?) {
            *to = word as i32;
        }
        let spot = SamplePoint { at: at.to_vec(), whole: tex.cty == Type::S32, layer, shift };
        let detail = self.level_of_detail(block, tex, &object, &sampler)?;
        let access =
            RecordedAccess { thread: self.global_number, block: block.number, epoch: block.epoch, atomic: false };
        let memory = &mut block.grid.memory;
        let mut fetch = |offset: usize, n: usize| -> Result<u64, String> {
            let address = address + offset as u64;
            let place = memory.iter_mut().find_map(|r| r.offset_of(address, n).map(|at| (r, at)));
            let (region, at) = place.ok_or("a texture lies where no memory is")?;
            region.fetch_texels(at, n, access).map(|x| x as u64)
        };
        let mut source = SampleSource { object: &object, sampler: &sampler, fetch: &mut fetch };
        match tex.level {
            TexLevel::Gather(component) => source.gather_component(&spot, component.into()),
            _ => source.sample_lod(&spot, detail),
        }
    }

    /// The level of detail that an instruction asks for, in 1/256.
    fn level_of_detail(
        &self,
        block: &SimBlock<'_>,
        tex: &TextureFetch,
        object: &TextureObject,
        sampler: &SamplerState,
    ) -> Result<u32, String> {
        let last = i128::from(object.levels) - 1;
        match &tex.level {
            _ if last == 0 => Ok(0),
            _ if !sampler.normalized => Err("levels without normalised coordinates: no single result".into()),
            TexLevel::Base | TexLevel::Gather(_) => Ok(0),
            TexLevel::Grad(..) => Err("a level of detail from derivatives: no single result".into()),
            TexLevel::Level(operand) => {
                let word = self.read_operand(block, operand, 32)? as u32;
                // The nearest level, halves up, or 1/256 of one, rounded down.
                let fixed = match tex.cty {
                    Type::S32 => i128::from(word as i32) * 256,
                    _ if sampler.mip_linear => fixed_point(word, 256),
                    _ => (fixed_point(word, 2) + 1).div_euclid(2) * 256,
                };
                Ok(fixed.clamp(0, last * 256) as u32)
            }
        }
    }

    /// Address of a surface access of `size` bytes (formatted ones are of a texel).
    fn surface_address(&self, block: &SimBlock<'_>, place: &SurfAddress, size: usize) -> Result<Option<u64>, String> {
        let BoundTextureObject { object, address, .. } = self.object_of_handle(block, &place.surface, true)?;
        let size = if place.formatted { object.texel_bytes() } else { size };
        let coords = self.operand_words(block, &place.coords)?;
        Ok(surface::access_offset(&object, place, &coords, size)?.map(|offset| address + offset as u64))
    }

    fn execute_surface_store(
        &mut self,
        block: &mut SimBlock<'_>,
        place: &SurfAddress,
        ty: Type,
        srcs: &[Operand],
    ) -> Result<(), String> {
        let object = self.object_of_handle(block, &place.surface, true)?.object;
        if place.formatted && srcs.len() < object.channels {
            return Err("a formatted store lacks channels: no single result".into());
        }
        let n = if place.formatted { object.channel.channel_bytes() } else { ty.bytes() as usize };
        let Some(at) = self.surface_address(block, place, n * srcs.len())? else { return Ok(()) };
        let stored = if place.formatted { object.channels } else { srcs.len() };
        for (i, src) in srcs.iter().enumerate().take(stored) {
            let value = match place.formatted {
                true => surface::convert_to_channel(object.channel, self.read_operand(block, src, 32)? as u32)?.into(),
                false => self.read_operand(block, src, ty.bits())?,
            };
            self.access_memory(block, at + (i * n) as u64, n, false, Some(truncate_bits(8 * n as u32, value)))?;
        }
        Ok(())
    }

    /// The type that `sured.p` works on.
    fn surface_reduction_type(&self, block: &SimBlock<'_>, place: &SurfAddress) -> Result<Type, String> {
        use crate::texture::ChannelFormat;
        let object = self.object_of_handle(block, &place.surface, true)?.object;
        match (object.channel, object.channels) {
            (ChannelFormat::U32, 1) => Ok(Type::U32),
            (ChannelFormat::S32, 1) => Ok(Type::S32),
            _ => Err("sured.p of such a surface".into()),
        }
    }
}

/// What `txq` and `suq` say.
fn texture_query_value(o: &TextureObject, query: TexQuery, level: u32) -> Result<u32, String> {
    if level >= o.levels {
        return Err("there is no such level".into());
    }
    let [width, height, depth] = o.extents_of(level);
    let is_cube = matches!(o.geometry, TextureGeometry::Cube | TextureGeometry::ACube);
    let axes = if is_cube { 2 } else { o.geometry.n_axes() };
    Ok(match query {
        TexQuery::Width => width,
        TexQuery::Height if axes > 1 => height,
        TexQuery::Depth if axes > 2 => depth,
        TexQuery::ArraySize if is_cube => o.layers / 6,
        TexQuery::ArraySize if o.geometry.is_layered() => o.layers,
        TexQuery::NormalizedCoords => u32::from(o.sampler.is_some_and(|s| s.normalized)),
        TexQuery::NumMipmapLevels => o.levels,
        other => return Err(format!("the oracle does not know what {other:?} says of this object")),
    })
}
